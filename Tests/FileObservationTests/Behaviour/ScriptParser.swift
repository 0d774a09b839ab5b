import FileObservation
import SystemCalls

/// An error in a script.
struct ScriptError: Error, Hashable, CustomStringConvertible {
  let file: String
  let line: Int
  let reason: String

  var description: String { "\(file):\(line): \(reason)" }
}

/// Parses a script.
struct ScriptParser {
  private enum Place {
    case beforeWatch
    case afterWatch
    /// After an `expect`, for all backends or for some.
    case expectation(backends: [String])
  }

  private let file: String
  private var line = 0
  private var place = Place.beforeWatch
  private var script = Script()

  /// - Parameter file: The name of the script, for errors.
  static func parse(_ text: String, file: String) throws(ScriptError) -> Script {
    var parser = ScriptParser(file: file)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      parser.line += 1
      try parser.read(line)
    }
    if parser.script.claim.isEmpty { throw parser.error("the first line is '# ' and a claim") }
    if case .beforeWatch = parser.place { throw parser.error("nothing is watched") }
    switch parser.script.steps.last {
    case .expect, .follow: break
    default: throw parser.error("a script ends with what it expects")
    }
    return parser.script
  }

  private init(file: String) {
    self.file = file
  }

  private func error(_ reason: String) -> ScriptError {
    ScriptError(file: file, line: max(line, 1), reason: reason)
  }

  private mutating func read(_ line: Substring) throws(ScriptError) {
    if script.claim.isEmpty {
      guard line.hasPrefix("# "), line.count > 2 else {
        throw error("the first line is '# ' and a claim")
      }
      script.claim = String(line.dropFirst(2))
      return
    }
    let words: [[UInt8]]
    do throws(ScriptWords.Failure) {
      words = try ScriptWords.split(line)
    } catch {
      throw self.error(error.reason)
    }
    guard let first = words.first else { return }
    if line.first == " " {
      try readExpectedChange(words)
      return
    }
    let verb = String(decoding: first, as: UTF8.self)
    let arguments = Array(words.dropFirst())
    switch place {
    case .beforeWatch: try readBeforeWatch(verb, arguments, line)
    case .afterWatch, .expectation: try readAfterWatch(verb, arguments, line)
    }
  }

  private func operation(
    _ verb: String, _ arguments: [[UInt8]], _ line: Substring
  ) throws(ScriptError) -> Operation {
    // A shell command is not split into words.
    let isShell = verb == "sh"
    let given = isShell ? [Array(line.dropFirst(3).utf8)] : arguments
    guard let known = Verb(rawValue: verb) else { throw error("there is no operation '\(verb)'") }
    guard known.argumentCounts.contains(given.count) else {
      throw error("\(verb) is written: \(known.usage)")
    }
    return Operation(verb: known, arguments: given, line: self.line)
  }
}

// MARK: - Before anything is watched

extension ScriptParser {
  private mutating func readBeforeWatch(
    _ verb: String, _ arguments: [[UInt8]], _ line: Substring
  ) throws(ScriptError) {
    switch verb {
    case "watch":
      guard arguments.isEmpty else { throw error("what to watch is said with 'root' before") }
      place = .afterWatch
    case "root", "shallow":
      for path in arguments {
        script.settings.roots.append(.init(path: path, isShallow: verb == "shallow"))
      }
    case "exts": script.settings.extensions += arguments
    case "ignore": script.settings.ignore += arguments
    case "filter": script.settings.filter += arguments
    case "follow-links": script.settings.followsLinks = true
    case "events":
      script.settings.kinds = []
      for name in arguments { script.settings.kinds.insert(try kind(name)) }
    case "except", "fails":
      guard let backend = arguments.first, arguments.count > 1 else {
        throw error("\(verb) is written: \(verb) BACKEND REASON")
      }
      let name = String(decoding: backend, as: UTF8.self)
      let reason = arguments.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        .joined(separator: " ")
      if verb == "except" {
        script.exceptions[name] = reason
      } else {
        script.knownIssues[name] = reason
      }
    default:
      script.preparation.append(try operation(verb, arguments, line))
    }
  }
}

// MARK: - Operations and expectations

extension ScriptParser {
  private mutating func readAfterWatch(
    _ verb: String, _ arguments: [[UInt8]], _ line: Substring
  ) throws(ScriptError) {
    if verb == "follow" && arguments.isEmpty {
      script.steps.append(.follow(line: self.line))
      place = .afterWatch
    } else if verb == "expect" {
      script.steps.append(.expect(.init(line: self.line)))
      place = .expectation(backends: [])
    } else if verb.hasPrefix("expect[") && verb.hasSuffix("]") {
      let backends = verb.dropFirst("expect[".count).dropLast().split(separator: ",")
      guard case .expectation = place, case .expect(var expectation) = script.steps.last else {
        throw error("what some backends do follows what all others do")
      }
      for backend in backends { expectation.changesByBackend[String(backend)] = [] }
      script.steps[script.steps.count - 1] = .expect(expectation)
      place = .expectation(backends: backends.map(String.init))
    } else {
      place = .afterWatch
      script.steps.append(
        verb == "settle" && arguments.isEmpty
          ? .settle : .perform(try operation(verb, arguments, line)))
    }
  }

  private mutating func readExpectedChange(_ words: [[UInt8]]) throws(ScriptError) {
    guard case .expectation(let backends) = place, case .expect(var expectation) = script.steps.last
    else { throw error("only what is expected is indented") }
    let change = try expectedChange(words)
    if backends.isEmpty { expectation.changes.append(change) }
    for backend in backends { expectation.changesByBackend[backend, default: []].append(change) }
    script.steps[script.steps.count - 1] = .expect(expectation)
  }

  /// `[?] KIND[|KIND] PATH [TYPE] [from PATH]`
  private func expectedChange(_ words: [[UInt8]]) throws(ScriptError) -> ExpectedChange {
    var rest = words[...]
    let isOptional = rest.first == Array("?".utf8)
    if isOptional { rest.removeFirst() }
    guard let kindWord = rest.popFirst(), let path = rest.popFirst() else {
      throw error("an expected change is written: [?] KIND[|KIND] PATH [TYPE] [from PATH]")
    }
    var kinds: Set<ChangeBatch.Kind> = []
    for name in kindWord.split(separator: UInt8(ascii: "|")) {
      kinds.insert(try kind(Array(name)))
    }
    var change = ExpectedChange(
      kinds: kinds, path: path, type: kinds == [.removed] ? .unknown : .file,
      isOptional: isOptional)
    if let word = rest.first, word != Array("from".utf8) {
      guard let type = FileType(rawValue: String(decoding: word, as: UTF8.self)) else {
        throw error("there is no type '\(String(decoding: word, as: UTF8.self))'")
      }
      change.type = type
      rest.removeFirst()
    }
    if rest.first == Array("from".utf8) {
      change.origin = rest.dropFirst().first
      rest = rest.dropFirst(2)
      if change.origin == nil { throw error("'from' what?") }
    }
    guard rest.isEmpty else { throw error("too many words") }
    guard kinds.contains(.renamed) == (change.origin != nil) else {
      throw error("'from' belongs to 'renamed'")
    }
    return change
  }

  private func kind(_ name: [UInt8]) throws(ScriptError) -> ChangeBatch.Kind {
    let name = String(decoding: name, as: UTF8.self)
    guard let kind = ChangeBatch.Kind(rawValue: name) else {
      throw error("there is no kind '\(name)'")
    }
    return kind
  }
}
