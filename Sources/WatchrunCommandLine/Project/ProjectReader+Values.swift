import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Support
import SystemCalls

// Converts the values of keys. The result is `nil` for a missing or an invalid value; the latter is
// also noted.

extension ProjectReader {
  mutating func mismatch(_ field: ProjectField) {
    mismatch(field, field.value)
  }

  private mutating func mismatch(_ field: ProjectField, _ value: JSONValue) {
    let found: String
    switch value.content {
    case .number(let number):
      found = number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
    case .string(let string): found = "\"\(Path(string))\""
    case .boolean(let boolean): found = "\(boolean)"
    case .null, .array, .object: found = value.kindName
    }
    note(
      "'\(field.key.name)' must be \(field.key.kind.expectation), not \(found)", at: value.offset)
  }

  mutating func string(_ field: ProjectField?) -> String? {
    guard let field else { return nil }
    if case .string(let text) = field.value.content, Self.isUsable(text) { return text }
    mismatch(field)
    return nil
  }

  /// Whether a string can be an argument or a path.
  private static func isUsable(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains(0)
  }

  mutating func path(_ field: ProjectField?) -> Path? {
    guard let field, let text = string(field) else { return nil }
    notePath(text, field, at: field.value.offset)
    return Path(text)
  }

  mutating func boolean(_ field: ProjectField?) -> Bool? {
    guard let field else { return nil }
    if case .boolean(let boolean) = field.value.content { return boolean }
    mismatch(field)
    return nil
  }

  /// The upper limit of `jobs`. A larger number is a mistake.
  static let mostJobs = 10_000

  mutating func count(_ field: ProjectField?) -> Int? {
    guard let field else { return nil }
    if case .number(let number) = field.value.content, let count = Int(exactly: number),
      (1...Self.mostJobs).contains(count)
    {
      return count
    }
    mismatch(field)
    return nil
  }

  mutating func port(_ field: ProjectField?) -> UInt16? {
    guard let field else { return nil }
    if let port = Self.port(field.value) { return port }
    mismatch(field)
    return nil
  }

  static func port(_ value: JSONValue) -> UInt16? {
    guard case .number(let number) = value.content else { return nil }
    return UInt16(exactly: number).flatMap { $0 == 0 ? nil : $0 }
  }

  /// A URL of a server that speaks HTTP without encryption.
  mutating func url(_ field: ProjectField?) -> String? {
    guard let field else { return nil }
    guard case .string(let text) = field.value.content, HTTPAddress(text) != nil else {
      if case .string(let text) = field.value.content, text.lowercased().hasPrefix("https:") {
        note(
          "'\(field.key.name)': HTTPS is not supported; give the server's port or http:// address",
          at: field.value.offset)
      } else {
        mismatch(field)
      }
      return nil
    }
    return text
  }

  mutating func duration(_ field: ProjectField?) -> Duration? {
    guard let field else { return nil }
    if case .string(let text) = field.value.content, let duration = Duration(parsing: text) {
      return duration
    }
    mismatch(field)
    return nil
  }

  mutating func positiveDuration(_ field: ProjectField?) -> Duration? {
    let duration = duration(field)
    if let field, duration == .zero {
      note("'\(field.key.name)' must be longer than 0", at: field.value.offset)
    }
    return duration
  }

  mutating func quietPeriod(_ field: ProjectField?) -> QuietPeriod? {
    if case .string("auto") = field?.value.content { return .adaptive }
    return duration(field).map { .fixed($0) }
  }

  mutating func polling(_ field: ProjectField?) -> Polling? {
    if case .boolean(let isOn) = field?.value.content {
      return Polling(isOn ? .always : .whereNeeded)
    }
    guard let field, let interval = duration(field) else { return nil }
    if interval < Polling.shortestInterval {
      note("'\(field.key.name)' must be at least 10ms", at: field.value.offset)
    }
    return Polling(.always, interval: interval...interval)
  }

  mutating func shell(_ field: ProjectField?) -> [UInt8]? {
    guard let field, let shell = string(field) else { return nil }
    if shell == "none" {
      note(
        "a shell line needs a shell; to run a program without one, write 'run' as an array",
        at: field.value.offset)
    }
    return Array(shell.utf8)
  }

  mutating func signal(_ field: ProjectField?) -> Signal? {
    guard let field else { return nil }
    guard case .string(let text) = field.value.content else {
      mismatch(field)
      return nil
    }
    if let signal = Signal(name: text) { return signal }
    let name = text.uppercased()
    let nearest = name.count > 3 ? nearestName(to: name, among: Signal.names) : nil
    let advice = nearest.map { "did you mean '\($0)'?" } ?? "'kill -l' lists the signals"
    note("'\(Path(text))' is not a signal; \(advice)", at: field.value.offset)
    return nil
  }

  /// One of the names of an enumeration.
  mutating func choice<Choice: RawRepresentable>(
    _ field: ProjectField?
  ) -> Choice? where Choice.RawValue == String {
    guard let field else { return nil }
    if case .string(let text) = field.value.content, let choice = Choice(rawValue: text) {
      return choice
    }
    mismatch(field)
    return nil
  }
}

// MARK: - Arrays and objects

extension ProjectReader {
  /// The strings of an array, or a single string, with their positions.
  private mutating func strings(_ field: ProjectField?) -> [(text: String, offset: Int)]? {
    guard let field else { return nil }
    let elements: [JSONValue]
    switch field.value.content {
    case .array(let array): elements = array
    case .string: elements = [field.value]
    default:
      mismatch(field)
      return nil
    }
    var strings: [(String, Int)] = []
    for element in elements {
      if case .string(let text) = element.content, Self.isUsable(text) {
        strings.append((text, element.offset))
      } else {
        mismatch(field, element)
      }
    }
    return strings
  }

  mutating func paths(_ field: ProjectField?) -> [Path]? {
    guard let field, let strings = strings(field) else { return nil }
    for (text, offset) in strings { notePath(text, field, at: offset) }
    return strings.map { Path($0.text) }
  }

  mutating func extensions(_ field: ProjectField?) -> [[UInt8]] {
    var extensions: [[UInt8]] = []
    for (text, offset) in strings(field) ?? [] {
      do throws(PatternError) {
        extensions += try GlobPattern.parseExtensions(text.utf8)
      } catch {
        note("'\(Path(text))' \(error)", at: offset)
      }
    }
    return extensions
  }

  /// The dependencies, each once.
  mutating func after(_ field: ProjectField?) -> [ProjectDraft.Reference] {
    var references: [ProjectDraft.Reference] = []
    for (name, offset) in strings(field) ?? [] {
      if references.contains(where: { $0.name == name }) {
        note("'\(Path(name))' occurs twice; remove one", at: offset)
      } else {
        references.append(.init(name: name, offset: offset))
      }
    }
    return references
  }

  mutating func globs(_ field: ProjectField?) -> [GlobPattern]? {
    guard let strings = strings(field) else { return nil }
    var patterns: [GlobPattern] = []
    for (text, offset) in strings {
      do throws(PatternError) {
        patterns += try GlobPattern.parse(text.utf8)
      } catch {
        note("the pattern '\(Path(text))' \(error)\(error.advice)", at: offset)
      }
    }
    return patterns
  }

  mutating func kinds(_ field: ProjectField?) -> Set<ChangeBatch.Kind>? {
    guard let field, let strings = strings(field) else { return nil }
    var kinds: Set<ChangeBatch.Kind> = []
    for (text, offset) in strings {
      if let kind = ChangeBatch.Kind(named: text) {
        kinds.insert(kind)
      } else {
        let names = ChangeBatch.Kind.names.joined(separator: ", ")
        note("'\(Path(text))' is not one of \(names)", at: offset)
      }
    }
    if strings.isEmpty {
      note("'events' is empty; remove it for the default", at: field.value.offset)
    }
    return kinds
  }

  mutating func hosts(_ field: ProjectField?) -> [String] {
    guard let field, let strings = strings(field) else { return [] }
    for (text, offset) in strings where !PageHost.isValid(text) {
      note("'\(Path(text))' is not an address; write \"0.0.0.0\" or a host name", at: offset)
    }
    return strings.map(\.text)
  }

  mutating func run(_ field: ProjectField?) -> Project.Run? {
    guard let field else { return nil }
    switch field.value.content {
    case .string(let line) where Self.isUsable(line):
      return .line(line)
    case .array(let words) where !words.isEmpty:
      let texts = words.compactMap { word -> String? in
        guard case .string(let text) = word.content, !text.utf8.contains(0) else { return nil }
        return text
      }
      if texts.count == words.count, texts.first?.isEmpty == false { return .words(texts) }
      mismatch(field)
    default:
      mismatch(field)
    }
    return nil
  }

  mutating func variables(_ field: ProjectField?) -> [Command.EnvironmentVariable] {
    guard let field else { return [] }
    guard case .object(let members) = field.value.content else {
      mismatch(field)
      return []
    }
    noteRepeated(members)
    return members.compactMap { member in
      if member.key.isEmpty || member.key.contains("=") || member.key.utf8.contains(0) {
        note("'\(Path(member.key))' is not a valid name of a variable", at: member.keyOffset)
      }
      guard case .string(let text) = member.value.content, !text.utf8.contains(0) else {
        note(
          "the variable '\(Path(member.key))' must be a string, as in \"8080\", "
            + "not \(member.value.kindName)", at: member.value.offset)
        return nil
      }
      return .init(name: Array(member.key.utf8), value: Array(text.utf8))
    }
  }

  mutating func readiness(_ field: ProjectField?) -> TaskDefinition.Readiness? {
    guard let field else { return nil }
    guard case .object = field.value.content else {
      mismatch(field)
      return nil
    }
    guard let fields = fields(of: field.value, .readiness, named: "'ready'") else { return nil }
    let port = port(fields["port"]).map { TaskDefinition.Readiness.Condition.port($0) }
    let url = url(fields["url"]).map { TaskDefinition.Readiness.Condition.url($0) }
    let line = string(fields["line"]).map { TaskDefinition.Readiness.Condition.line($0) }
    let timeout = positiveDuration(fields["timeout"])
    let mayExist = boolean(fields["existing"]) ?? false
    let given = ["port", "url", "line"].compactMap { fields[$0] }
    let isKnown = field.value.members.allSatisfy { fields[$0.key] != nil }
    if given.count > 1 || (given.isEmpty && isKnown) {
      let what = given.isEmpty ? "is empty" : "has more than one condition"
      note("'ready' \(what); give it one of port, url and line", at: field.keyOffset)
    }
    guard let condition = port ?? url ?? line else { return nil }
    var readiness = TaskDefinition.Readiness(condition)
    if let timeout { readiness.timeout = timeout }
    readiness.detectsConflicts = !mayExist
    return readiness
  }
}
