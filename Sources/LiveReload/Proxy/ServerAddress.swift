import Support
import SystemCalls

/// The address of a server that speaks plain HTTP.
public struct ServerAddress: Hashable, Sendable {
  /// A name or an IP address, without brackets.
  public var host: String
  /// The port number.
  public var port: UInt16
  /// The path that is prefixed to that of each request, such as `/app`; empty for none.
  public var basePath: String
  /// Whether connections can be made while no server runs, since this process holds its socket.
  package var isHeld = false

  /// Creates an address, on this machine unless a host is given. Trailing slashes of the base path
  /// are removed.
  public init(host: String = "localhost", port: UInt16, basePath: String = "") {
    self.host = host
    self.port = port
    var path = basePath[...]
    while path.hasSuffix("/") { path = path.dropLast() }
    self.basePath = String(path)
  }

  /// The host and the port, as in a URL.
  var authority: String { port == 80 ? bracketed(host) : "\(bracketed(host)):\(port)" }

  /// The address as a URL.
  var url: String { "http://\(authority)\(basePath)" }

  /// Whether the server is on this machine.
  package var isLocal: Bool { HostAddress(host: host)?.isLocal ?? false }

  /// Whether a browser on this machine reaches the server at an address. Servers on this machine
  /// call themselves by any of its names.
  func isReached(at address: Authority) -> Bool {
    guard address.port ?? 80 == port else { return false }
    if isLocal && address.host.isLocal { return true }
    return address.host == HostAddress(host: host)
  }
}

extension ServerAddress: CustomStringConvertible {
  /// The address for people: `localhost:3000/base`.
  public var description: String { "\(bracketed(host)):\(port)\(basePath)".printable }
}
