import SystemCalls

/// A page that cannot be served: what, why, and what to do.
public struct PageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What cannot be done, why, and what to do.
  public let description: String

  init(_ description: String) {
    self.description = description
  }

  static func cannotListen(_ page: String, port: UInt16, _ error: SystemError) -> PageError {
    switch error.code {
    case EADDRINUSE:
      PageError(
        "cannot serve \(page): port \(port) is in use; choose another with --port, or leave it out")
    case EACCES:
      PageError(
        "cannot serve \(page): port \(port) is reserved for the administrator; choose one from "
          + "1024 on")
    case EADDRNOTAVAIL:
      PageError(
        "cannot serve \(page): \(error.path?.description ?? "the host") is no address of this "
          + "machine; give one of its addresses, or 0.0.0.0 for all")
    default:
      PageError("cannot serve \(page): \(error)")
    }
  }
}
