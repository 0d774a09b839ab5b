import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Support

/// A kind of value and the way to read it, from the text of an option and from JSON. What both accept,
/// and every message about what they refuse, is here.
struct ValueType<Value: Hashable & Sendable>: Sendable {
  let kind: ValueKind
  /// `nil` for an invalid value, which is noted.
  let read: @Sendable (inout ValueReader) -> Value?

  init(_ kind: ValueKind, _ read: @escaping @Sendable (inout ValueReader) -> Value?) {
    self.kind = kind
    self.read = read
  }
}

// MARK: - Booleans and numbers

extension ValueType<Bool> {
  /// Of an option, whether it is given.
  static var boolean: Self {
    Self(.boolean) { reader in
      guard let json = reader.json else { return true }
      if case .boolean(let boolean) = json.content { return boolean }
      reader.mismatch()
      return nil
    }
  }
}

extension ValueType<Int> {
  static func count(_ range: ClosedRange<Int>) -> Self {
    Self(.count(range)) { reader in
      let text = reader.text.decoded
      var count = reader.json == nil ? Int(text) : nil
      if case .number(let number)? = reader.json?.content { count = Int(exactly: number) }
      if let count, range.contains(count) { return count }
      if reader.json == nil {
        reader.note("'\(text)' is not a number from \(range.lowerBound) to \(range.upperBound)")
      }
      reader.mismatch()
      return nil
    }
  }
}

extension ValueType<UInt16> {
  static var port: Self {
    Self(.port) { reader in
      if let json = reader.json {
        if json.port == nil { reader.mismatch() }
        return json.port
      }
      let number = UInt16(reader.text.decoded) ?? 0
      if number > 0, reader.text.allSatisfy(\.isDigitASCII) { return number }
      reader.note("'\(reader.written)' is not a port from 1 to 65535")
      return nil
    }
  }

  /// 0 for a free port.
  static var portOrAuto: Self {
    Self(.portOrAuto) { reader in
      reader.json?.text == "auto" ? Project.Task.freePort : port.read(&reader)
    }
  }
}

extension ValueType<String> {
  /// The text of a ``ListenAddress``.
  static var listenAddress: Self {
    Self(.listenAddress) { reader in
      if let port = reader.json?.port { return "\(port)" }
      return reader.parsed(
        { ListenAddress($0) == nil ? nil : $0 },
        { "'\($0.printable)' is not an address to listen on; write 8080, or 0.0.0.0:8080" })
    }
  }
}

extension JSONValue {
  var port: UInt16? {
    guard case .number(let number) = content else { return nil }
    return UInt16(exactly: number).flatMap { $0 == 0 ? nil : $0 }
  }

  /// The elements of an array that is not empty, or the value alone.
  var oneOrMore: [JSONValue] { elements.isEmpty ? [self] : elements }
}

// MARK: - Strings

extension ValueType<[UInt8]> {
  static var shellLine: Self { Self(.shellLine) { $0.bytes("the command is empty") } }

  static var taskName: Self { Self(.taskNames) { $0.bytes("the name of the task is empty") } }
}

extension ValueType<String> {
  static var string: Self {
    Self(.string) { $0.bytes("the text is empty").map { $0.decoded } }
  }

  static var url: Self {
    Self(.url) { reader in reader.json.flatMap { reader.url($0, allowsTLS: true) } }
  }
}

extension ValueType<Set<Int>> {
  static var statuses: Self {
    Self(.statuses) { reader in
      let statuses = reader.json?.oneOrMore.compactMap { element -> Int? in
        if case .number(let number) = element.content, let status = Int(exactly: number),
          (100...599).contains(status)
        {
          return status
        }
        reader.mismatch(element)
        return nil
      }
      return statuses.map { Set($0) }
    }
  }
}

extension ValueType<Path> {
  static var file: Self { Self(.file) { $0.path() } }

  /// A directory, whose existence `--check` checks.
  static var directory: Self { Self(.directory) { $0.path(isNamed: true) } }
}

extension ValueType<Settings.Shell> {
  static var shell: Self {
    Self(.shell) { reader in
      guard let shell = reader.path()?.bytes else { return nil }
      guard shell.elementsEqual("none".utf8) else { return .always(shell) }
      if reader.json != nil {
        reader.note(
          "a shell line needs a shell; to run a program without one, write 'run' as an array")
      }
      return .never
    }
  }
}

extension ValueType<Signal> {
  static var signal: Self {
    Self(.signal) { reader in
      reader.parsed(
        { Signal(name: $0) },
        { text in
          text.utf8.contains(UInt8(ascii: " "))
            ? "'\(text.printable)' is not a signal; for a shell line, give it without an option"
            : "unknown signal '\(text.printable)'; \(advice(on: text))"
        }, problemOfKey: { "'\($0.printable)' is not a signal; \(advice(on: $0))" })
    }
  }

  private static func advice(on text: String) -> String {
    let name = text.uppercased()
    let nearest = name.count > 3 ? nearestName(to: name, among: Signal.names) : nil
    return nearest.map { "did you mean '\($0)'?" } ?? "'kill -l' lists the signals"
  }
}

extension ValueType<Project.Run> {
  static var command: Self {
    Self(.command) { reader in
      switch reader.json?.content {
      case .string(let line) where ValueReader.isUsable(line): return .line(line)
      case .array(let words):
        let texts = words.compactMap(\.text)
        if texts.contains(where: { $0.utf8.contains(0) }) {
          reader.note("a word of a command cannot contain NUL")
          return nil
        }
        if texts.count == words.count, texts.first?.isEmpty == false { return .words(texts) }
      default: break
      }
      reader.mismatch()
      return nil
    }
  }
}

// MARK: - Choices

extension ValueType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: Self {
    Self(.choice(Value.names)) { reader in
      reader.parsed({ Value(rawValue: $0) }, { notOne(of: Value.names, $0) })
    }
  }
}

extension ValueType<Set<ChangeBatch.Kind>> {
  static var changes: Self {
    Self(.choices(ChangeBatch.Kind.names)) { reader in
      guard let elements = reader.elements() else { return nil }
      let names = ChangeBatch.Kind.names
      var kinds: Set<ChangeBatch.Kind> = []
      for (text, offset) in elements {
        let words = reader.json == nil ? text.split(separator: UInt8(ascii: ",")) : [text[...]]
        for word in words {
          if let kind = ChangeBatch.Kind(named: word.decoded) {
            kinds.insert(kind)
          } else {
            reader.note(notOne(of: names, word.decoded), at: offset)
          }
        }
        if words.isEmpty {
          reader.note("the list is empty; write events, such as create,modify")
        }
      }
      if elements.isEmpty { reader.note("'events' is empty; remove it for the default") }
      return kinds
    }
  }
}

/// The message about a word that is not one of these.
func notOne(of names: [String], _ text: String) -> String {
  let advice = nearestName(to: text, among: names).map { "; did you mean '\($0)'?" }
  let list = names.joined(separator: ", ")
  return "'\(text.printable)' is not one of: \(list)\(advice ?? "")"
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
  static var names: [String] { allCases.map(\.rawValue) }
}
