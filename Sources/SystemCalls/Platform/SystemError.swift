/// A failed system call: its name, its error code, and the path it was called with.
public struct SystemError: Error, Hashable, Sendable {
  /// The name of the call's manual page.
  public let call: String
  /// The error number (`errno`).
  public let code: Int32
  /// The path that the call was given, if any.
  public let path: Path?

  /// Creates an error.
  public init(call: String, code: Int32, path: Path? = nil) {
    self.call = call
    self.code = code
    self.path = path
  }

  /// The error of the call that has just failed, from `errno`.
  package static func last(_ call: String, path: Path? = nil) -> SystemError {
    SystemError(call: call, code: errno, path: path)
  }

  /// The system's description of the code, such as "No such file or directory".
  public var reason: String {
    String(cString: strerror(code))
  }

  /// Whether the path does not exist (any more). That is normal for a tree that changes while it is read.
  package var isNotFound: Bool {
    code == ENOENT || code == ENOTDIR || code == ELOOP
  }

  /// Whether the system has no descriptor or memory left for the call, which may succeed later.
  package var isOutOfResources: Bool {
    code == EMFILE || code == ENFILE || code == ENOMEM
  }
}

extension SystemError: CustomStringConvertible {
  /// "path: reason (call)".
  public var description: String {
    (path.map { "\($0): " } ?? "") + "\(reason) (\(call))"
  }
}
