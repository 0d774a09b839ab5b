/// A failure of the embedding program, which pages show over their content.
public struct PageFailure: Hashable, Sendable {
  /// What has failed.
  public var title: String
  /// The lines below it, which may have the colours of a terminal. Source locations in them, such as
  /// `index.md:3`, become links. At most the first 500 are shown.
  public var lines: [[UInt8]]

  /// Creates a failure.
  public init(title: String, lines: [[UInt8]] = []) {
    self.title = title
    self.lines = lines
  }

  /// Creates a failure from text of any number of lines.
  public init(title: String, text: String) {
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    self.init(title: title, lines: lines.map { Array($0) })
  }

  /// What stands for the name of a task in messages to pages.
  static let task = ""
}
