import Support

/// What the script of a page sends: the latest messages of its console, which may hold anything.
struct ConsoleReport: Hashable, Sendable {
  /// The most bytes of a report.
  static let mostBytes = 64 * 1024
  /// The most messages of a report, and the most lines of a message. The script sends less.
  static let mostMessages = 20
  static let mostLines = 20
  /// The most bytes of a message.
  static let mostText = 8 * 1024

  var messages: [ConsoleMessage] = []
  /// The number of messages that the script has left out.
  var omitted = 0

  /// Reads a report such as `{"entries":[{"level":"error","text":"…"}],"omitted":0}`; `nil` if it is not one.
  init?(_ json: [UInt8]) {
    guard let value = try? JSONValue(parsing: json),
      case .array(let entries)? = value["entries"]?.content
    else { return nil }
    for entry in entries.prefix(Self.mostMessages) {
      guard case .string(let name)? = entry["level"]?.content,
        let level = ConsoleMessage.Level(rawValue: name),
        case .string(let text)? = entry["text"]?.content
      else { return nil }
      messages.append(ConsoleMessage(level: level, lines: Self.lines(of: text)))
    }
    if case .number(let count)? = value["omitted"]?.content, (0...1e6).contains(count) {
      omitted = Int(count)
    }
    omitted += max(0, entries.count - Self.mostMessages)
  }

  /// The lines as a terminal shows them, without the sequences that it obeys.
  private static func lines(of text: String) -> [String] {
    var terminal = TerminalText()
    let lines = text.utf8.prefix(mostText)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let shown = lines.prefix(mostLines).map { line in
      String(decoding: terminal.line(Array(line)).plainText, as: UTF8.self)
    }
    return lines.count > mostLines ? shown + ["…"] : shown
  }
}
