import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Support

// Reads the values of options. The parser adds the option's name to each error.

extension OptionTable {
  static func path(_ value: [UInt8]) throws(UsageError) -> Path {
    if value.isEmpty { throw UsageError("the path is empty") }
    return Path(bytes: value)
  }

  static func line(_ value: [UInt8]) throws(UsageError) -> [UInt8] {
    if value.isEmpty { throw UsageError("the command is empty") }
    return value
  }

  static func extensions(_ value: [UInt8]) throws(UsageError) -> [[UInt8]] {
    do throws(PatternError) {
      return try GlobPattern.parseExtensions(value)
    } catch {
      switch error {
      case .empty: throw UsageError("the list is empty; write extensions, such as c,h")
      case .notAnExtension(nil):
        throw UsageError("'\(Path(bytes: value))' is not an extension; for a pattern, use -f")
      default: throw UsageError("'\(Path(bytes: value))' \(error)")
      }
    }
  }

  static func globs(_ value: [UInt8]) throws(UsageError) -> [GlobPattern] {
    do throws(PatternError) {
      return try GlobPattern.parse(value)
    } catch {
      throw UsageError(
        error == .empty
          ? "the pattern is empty" : "the pattern '\(Path(bytes: value))' \(error)\(error.advice)")
    }
  }

  static func text(_ value: [UInt8]) -> String {
    String(decoding: value, as: UTF8.self)
  }

  /// Without a value, the observer chooses the interval.
  static func polling(_ value: [UInt8]) throws(UsageError) -> Polling {
    if value.isEmpty { return Polling(.always) }
    let interval = try duration(value)
    if interval < Polling.shortestInterval {
      throw UsageError("'\(Path(bytes: value))' is too short; write 10ms or more")
    }
    return Polling(.always, interval: interval...interval)
  }

  static func duration(_ value: [UInt8]) throws(UsageError) -> Duration {
    if let duration = Duration(parsing: text(value)) { return duration }
    let written = Path(bytes: value)
    let isNumber = value.contains(where: isDigit) && Duration(parsing: text(value) + "s") != nil
    throw UsageError(
      isNumber
        ? "'\(written)' has no unit; write \(written)ms or \(written)s"
        : "'\(written)' is not a duration; write 50ms, 1.5s, 2m or 0")
  }

  static func signal(_ value: [UInt8]) throws(UsageError) -> Signal {
    if let signal = Signal(name: text(value)) { return signal }
    if value.contains(UInt8(ascii: " ")) {
      throw UsageError(
        "'\(Path(bytes: value))' is not a signal; for a shell line, give it without an option")
    }
    let name = text(value).uppercased()
    let nearest = name.count > 3 ? nearestName(to: name, among: Signal.names) : nil
    throw UsageError(
      "unknown signal '\(Path(bytes: value))'; "
        + (nearest.map { "did you mean '\($0)'?" } ?? "'kill -l' lists the signals"))
  }

  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ value: [UInt8]
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: text(value)) { return choice }
    throw notOne(of: Choice.names, value)
  }

  static func notOne(of names: [String], _ value: some Collection<UInt8>) -> UsageError {
    let written = Array(value)
    let advice = nearestName(to: text(written), among: names).map { "; did you mean '\($0)'?" }
    let list = names.joined(separator: ", ")
    return UsageError("'\(Path(bytes: written))' is not one of: \(list)\(advice ?? "")")
  }

  static func variable(_ value: [UInt8]) throws(UsageError) -> Command.EnvironmentVariable {
    guard let cut = value.firstIndex(of: UInt8(ascii: "=")), cut > 0 else {
      throw UsageError("'\(Path(bytes: value))' is not of the form NAME=VALUE")
    }
    return .init(name: Array(value[..<cut]), value: Array(value[(cut + 1)...]))
  }

  static func kinds(_ value: [UInt8]) throws(UsageError) -> Set<ChangeBatch.Kind> {
    var kinds: Set<ChangeBatch.Kind> = []
    for name in value.split(separator: UInt8(ascii: ",")) {
      guard let kind = ChangeBatch.Kind(named: text(Array(name))) else {
        throw notOne(of: ChangeBatch.Kind.names, name)
      }
      kinds.insert(kind)
    }
    if kinds.isEmpty { throw UsageError("the list is empty; write events, such as create,modify") }
    return kinds
  }

  static func port(_ value: [UInt8]) throws(UsageError) -> UInt16 {
    guard value.allSatisfy(isDigit), let port = UInt16(text(value)), port > 0 else {
      throw UsageError("'\(Path(bytes: value))' is not a port from 1 to 65535")
    }
    return port
  }

  static func host(_ value: [UInt8]) throws(UsageError) -> String {
    let host = text(value)
    guard PageHost.isValid(host) else {
      throw UsageError("'\(Path(bytes: value))' is not an address; write 0.0.0.0 or a host name")
    }
    return host
  }

  static func header(_ value: [UInt8]) throws(UsageError) -> HeaderField {
    guard let colon = value.firstIndex(of: UInt8(ascii: ":")) else {
      throw UsageError("'\(Path(bytes: value))' is not of the form 'NAME: VALUE'")
    }
    let name = text(Array(value[..<colon]))
    do throws(HeaderField.Problem) {
      return try HeaderField(name: name, value: text(Array(value[(colon + 1)...])))
    } catch {
      throw UsageError(error.text(of: name))
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension PatternError {
  /// The remedy, for the end of a message; empty if the description contains it.
  var advice: String {
    switch self {
    case .defect: "; write it as in .gitignore"
    case .unclosedBrace: "; add the missing }"
    default: ""
    }
  }
}

extension HeaderField.Problem {
  /// The problem, with the name of the field.
  func text(of name: String) -> String {
    switch self {
    case .invalidName:
      "'\(Path(name))' is not the name of a header; write one such as Cache-Control"
    case .invalidValue: "the value of '\(Path(name))' has control characters; remove them"
    case .reserved: "'\(Path(name))' is different for each answer, and cannot be set for all"
    }
  }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
  /// All values as they are written.
  static var names: [String] { allCases.map(\.rawValue) }
}
