/// A message that a page has written to its console in a browser, or an error of one of its scripts.
public struct ConsoleMessage: Hashable, Sendable {
  /// The kinds of message.
  public enum Level: String, Hashable, Sendable {
    /// `console.error`, an error that no script caught, or a promise whose rejection none handled.
    case error
    /// `console.warn`.
    case warning
  }

  /// The kind of message.
  public var level: Level
  /// The text, at least one line. It has neither control characters nor such as change the direction of text.
  public var lines: [String]

  /// Creates a message.
  public init(level: Level, lines: [String]) {
    self.level = level
    self.lines = lines
  }
}
