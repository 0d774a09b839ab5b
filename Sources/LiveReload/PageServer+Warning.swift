import SystemCalls

extension PageServer {
  /// A limitation of a page, which is served nevertheless.
  public struct Warning: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of warning.
    public enum Code: Hashable, Sendable {
      /// The client script cannot be added to a document, so that it does not reload.
      case scriptNotAdded
      /// Each reload changes a file, which would reload the page again and again. Reloads for it are delayed.
      case reloadLoop
    }

    /// The kind of warning.
    public let code: Code
    /// The name of the page.
    public let page: String
    /// The file that the warning is about, if any.
    public let path: Path?
    /// What happened, and why, for people.
    public let message: String

    /// The message.
    public var description: String { message }
  }
}

extension PageServer.Warning {
  /// - Parameter path: The path of the document in the page.
  static func scriptNotAdded(to page: String, at path: Path, because reason: String) -> Self {
    Self(
      code: .scriptNotAdded, page: page, path: nil,
      message: "\(page) is not reloaded at \(path): \(reason)")
  }

  /// - Parameter shown: The path for display.
  static func reloadLoop(of page: String, by path: Path, shown: Path, seconds: Int) -> Self {
    Self(
      code: .reloadLoop, page: page, path: path,
      message: "each reload of \(page) changes \(shown): next reload in \(seconds) s")
  }
}
