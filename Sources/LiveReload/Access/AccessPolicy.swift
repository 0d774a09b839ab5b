import Support

/// The rules for the `Host` and `Origin` of requests. They prevent pages of other sites from
/// reading by DNS rebinding, and from opening WebSockets.
///
/// Loopback hosts are always allowed, on any port: `localhost`, names that end in `.localhost`,
/// `127.0.0.0/8` and `::1`.
struct AccessPolicy: Sendable {
  private let hosts: Set<HostAddress>
  private let allowsAddresses: Bool

  /// Creates a policy that also allows these names and addresses. `0.0.0.0` and `::` allow every
  /// address, but no name. Entries that are neither a name nor an address are ignored.
  init(hosts: [String]) {
    let addresses = hosts.compactMap { HostAddress(host: $0) }
    allowsAddresses = addresses.contains(where: \.isUnspecified)
    self.hosts = Set(addresses.filter { !$0.isUnspecified })
  }

  /// Whether a request with this `Host` header may be answered. A request without one may not.
  func allows(host: [UInt8]?) -> Bool {
    guard let host, let authority = Authority(host[...]) else { return false }
    return allows(authority.host) || allowsAddresses && authority.host.isAddress
  }

  /// Whether `origin` is that of the server itself, under the name in `host`.
  ///
  /// `https` is allowed too, for a server behind a TLS proxy.
  func allows(origin: [UInt8], host: [UInt8]) -> Bool {
    guard allows(host: host), let origin = Origin(origin), let authority = Authority(host[...])
    else {
      return false
    }
    return origin.authority.host == authority.host
      && origin.authority.port ?? origin.defaultPort == authority.port ?? origin.defaultPort
  }

  /// Whether a page of this origin may open a LiveReload WebSocket: a page of an allowed host, or a
  /// browser extension. A request without an origin is not from a browser, and allowed.
  ///
  /// If every address is allowed, only private ones may open a WebSocket, because any site may have a public address.
  func allowsSocket(origin: [UInt8]?) -> Bool {
    guard let origin else { return true }
    if Self.isExtension(origin) { return true }
    guard let host = Origin(origin)?.authority.host else { return false }
    return allows(host) || allowsAddresses && host.isPrivate
  }

  private func allows(_ host: HostAddress) -> Bool {
    host.isLoopback || hosts.contains(host)
  }

  /// No web page has such an origin.
  private static func isExtension(_ origin: [UInt8]) -> Bool {
    ["chrome-extension://", "moz-extension://", "safari-web-extension://"].contains {
      origin.starts(with: $0.utf8)
    }
  }
}

/// A host with an optional port.
struct Authority {
  var host: HostAddress
  var port: UInt16?

  init?(_ text: ArraySlice<UInt8>) {
    guard let place = HostAndPort(text), let host = HostAddress(place.host) else { return nil }
    (self.host, port) = (host, place.port)
  }
}

/// An origin as browsers send it.
private struct Origin {
  var authority: Authority
  var defaultPort: UInt16

  init?(_ text: [UInt8]) {
    let parts = text[...].splitURL(after: "http://") ?? text[...].splitURL(after: "https://")
    guard let parts, parts.rest.isEmpty, let authority = Authority(parts.authority) else {
      return nil
    }
    self.authority = authority
    defaultPort = text.starts(with: "https".utf8) ? 443 : 80
  }
}
