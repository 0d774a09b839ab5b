import LiveReload
import SystemCalls

extension Project.Page {
  /// The file that is served for missing paths.
  package var fallbackFile: Path? {
    guard let served, let fallback else { return nil }
    return served.appending(fallback.word)
  }

  /// The proxies, which have been validated.
  package var rules: [ProxyRule] { proxies.compactMap(\.rule) }

  /// The server that answers all requests without a rule of their own.
  package var upstream: ServerAddress? { rules.first(where: \.matchesAll)?.server }

  /// Notes that watchrun holds the socket of a server on this machine.
  package mutating func holdSocket(atPort port: UInt16) {
    for (index, proxy) in proxies.enumerated() {
      guard let server = proxy.rule?.server, server.isLoopback, server.port == port else {
        continue
      }
      proxies[index].isHeld = true
    }
  }
}

extension Project.Page.Proxy {
  /// The rule; `nil` for a URL with a query, and for a task whose port is not known.
  fileprivate var rule: ProxyRule? {
    var address: ServerAddress? =
      switch server {
      case .port(let port): ServerAddress(port: port)
      case .url(let url): ServerAddress(url: url)
      case .task: nil
      }
    address?.isHeld = isHeld
    return address.flatMap { ProxyRule(path: path, server: $0) }
  }
}
