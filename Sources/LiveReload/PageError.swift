import SystemCalls

/// The reason why a page cannot be served.
public struct PageError: Error, Hashable, Sendable {
  /// The kinds of failure. Later versions may add more.
  public struct Code: Hashable, Sendable {
    private let name: String

    /// Another program listens at the port.
    public static let portInUse = Code(name: "portInUse")
    /// Listening at the port requires administrator rights.
    public static let portReserved = Code(name: "portReserved")
    /// A host is not an address of this machine.
    public static let addressUnavailable = Code(name: "addressUnavailable")
    /// The process's limit of open files is reached.
    public static let descriptorLimitReached = Code(name: "descriptorLimitReached")
    /// Listening failed for another reason.
    public static let cannotListen = Code(name: "cannotListen")
  }

  /// The kind of failure.
  public let code: Code
  /// The name of the page.
  public let page: String
  /// What happened, and why, for people.
  public let message: String
}

extension PageError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension PageError {
  static func cannotListen(_ page: String, port: UInt16, _ error: SystemError) -> PageError {
    let (code, reason): (Code, String) =
      switch error.code {
      case EADDRINUSE: (.portInUse, "port \(port) is in use" + holder(of: port))
      case EACCES: (.portReserved, "port \(port) requires administrator rights")
      case EADDRNOTAVAIL:
        (
          .addressUnavailable,
          "\(error.path?.description ?? "the host") is not an address of this machine"
        )
      default: (.cannotListen, "\(error)")
      }
    return PageError(code: code, page: page, message: "cannot serve \(page): \(reason)")
  }

  /// The process that listens at a port, if it is known.
  private static func holder(of port: UInt16) -> String {
    listener(atPort: port).map { " by \($0.name) (pid \($0.process))" } ?? ""
  }

  static func descriptorLimitReached(_ page: String) -> PageError {
    PageError(
      code: .descriptorLimitReached, page: page,
      message: "cannot serve \(page): the limit of open files is reached")
  }
}
