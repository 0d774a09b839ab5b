/// A system call that failed: which call, why, and on what.
public struct SystemError: Error, Hashable, Sendable {
  /// The call's name, as in its manual page.
  public let call: String
  /// The `errno` that it left.
  public let code: Int32
  /// The path it was asked about, where there was one.
  public let path: Path?

  /// An error of the call named `call`.
  public init(call: String, code: Int32, path: Path? = nil) {
    self.call = call
    self.code = code
    self.path = path
  }

  /// The error that the call named `call` has just left in `errno`.
  package static func last(_ call: String, path: Path? = nil) -> SystemError {
    SystemError(call: call, code: errno, path: path)
  }

  /// The kernel's words for the code, such as "No such file or directory".
  public var reason: String {
    String(cString: strerror(code))
  }

  /// True when the thing asked about is not there (any more), which for a watcher is news and not
  /// a failure: trees change while they are read.
  package var isNotFound: Bool {
    code == ENOENT || code == ENOTDIR || code == ELOOP
  }
}

extension SystemError: CustomStringConvertible {
  /// "path: reason (call)".
  public var description: String {
    (path.map { "\($0): " } ?? "") + "\(reason) (\(call))"
  }
}
