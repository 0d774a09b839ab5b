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
    let code: Code =
      switch error.code {
      case EADDRINUSE: .portInUse
      case EACCES: .portReserved
      case EADDRNOTAVAIL: .addressUnavailable
      default: .cannotListen
      }
    let reason = Socket.problem(listeningAt: port, error)
    return PageError(code: code, page: page, message: "cannot serve \(page): \(reason)")
  }

  static func descriptorLimitReached(_ page: String) -> PageError {
    PageError(
      code: .descriptorLimitReached, page: page,
      message: "cannot serve \(page): the limit of open files is reached")
  }
}
