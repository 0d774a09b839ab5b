import SystemCalls

/// An error, a warning or a note in the output of a tool.
public struct Diagnostic: Hashable, Sendable {
  /// How serious it is.
  public enum Severity: String, Hashable, Sendable {
    case error, warning, note
  }

  /// The file, absolute; `nil` if the tool names none. It need not exist if the form leaves no doubt.
  public var path: Path?
  /// From 1 on.
  public var line: Int?
  /// From 1 on.
  public var column: Int?
  /// How serious it is.
  public var severity: Severity
  /// A line without control characters.
  public var message: String

  /// Creates a diagnostic.
  public init(
    _ severity: Severity, _ message: String, path: Path? = nil, line: Int? = nil,
    column: Int? = nil
  ) {
    (self.severity, self.message) = (severity, message)
    (self.path, self.line, self.column) = (path, line, column)
  }

  /// Its place as editors read it, such as `Sources/a.swift:3:5`, relative to the directory if it is there;
  /// `nil` without a file.
  package func place(in directory: Path) -> String? {
    guard let path else { return nil }
    var text = path.shown(in: directory).description
    if let line {
      text += ":\(line)"
      if let column { text += ":\(column)" }
    }
    return text
  }

  /// `Sources/a.swift:3:5 cannot find 'x' in scope`.
  package func text(in directory: Path, length: Int = .max) -> String {
    let place = place(in: directory).map { $0 + " " } ?? ""
    return place + (message.count > length ? message.prefix(length - 1) + "…" : message)
  }

  /// The line of a quickfix file: `path:line:column: severity: message`. Without a column it is 1, and
  /// without a line, too.
  package func quickfixLine(in directory: Path) -> String {
    guard let path else { return "\(severity.rawValue): \(message)" }
    let shown = path.shown(in: directory).description
    return "\(shown):\(line ?? 1):\(column ?? 1): \(severity.rawValue): \(message)"
  }

  /// The lines of a quickfix file, separated by line feeds; as many as fit into this number of bytes.
  package static func list(_ all: [Diagnostic], in directory: Path, most: Int) -> String {
    var text = ""
    for diagnostic in all {
      let line = (text.isEmpty ? "" : "\n") + diagnostic.quickfixLine(in: directory)
      if text.utf8.count + line.utf8.count > most { break }
      text += line
    }
    return text
  }
}
