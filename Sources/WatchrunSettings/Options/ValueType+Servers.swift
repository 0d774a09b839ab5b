import ActionRunning
import LiveReload
import Support

extension ValueType<[Project.Page.Proxy]> {
  /// A server for all requests, or for those of a path; as an object, of several paths.
  static var servers: Self {
    Self(.servers) { reader in
      guard let json = reader.json else {
        return reader.proxy().map { [$0] }
      }
      guard case .object(let members) = json.content else {
        return reader.server(json).map { [.init(path: Project.Page.Proxy.all, server: $0)] }
      }
      var proxies: [Project.Page.Proxy] = []
      for member in members {
        let server = reader.server(member.value)
        guard let rule = ProxyRule(path: member.key, server: ServerAddress(port: 80)) else {
          reader.note(
            "'\(member.key.printable)' is not a path to proxy; write one such as \"/api\", which "
              + "includes all below it", at: member.keyOffset)
          continue
        }
        if proxies.contains(where: { $0.path == rule.path }) { reader.noteTwice(member) }
        if let server { proxies.append(.init(path: rule.path, server: server)) }
      }
      return proxies
    }
  }
}

extension ValueReader {
  fileprivate mutating func server(_ json: JSONValue) -> Project.Page.Server? {
    if let port = json.port { return .port(port) }
    if case .string(let name) = json.content, ProjectReader.isTaskName(name) { return .task(name) }
    guard let url = url(json) else { return nil }
    if ServerAddress(url: url) == nil {
      note("the address of the server must not have a query; remove it", at: json.offset)
    }
    return .url(url)
  }

  /// The URL of a server that speaks HTTP, without encryption unless that is allowed.
  mutating func url(_ json: JSONValue, allowsTLS: Bool = false) -> String? {
    if case .string(let text) = json.content {
      if HTTPAddress(text, allowsTLS: allowsTLS) != nil { return text }
      if !allowsTLS, text.lowercased().hasPrefix("https:") {
        note(
          "'\(key)': HTTPS is not supported; give the server's port or http:// address",
          at: json.offset)
        return nil
      }
    }
    mismatch(json)
    return nil
  }
}

// MARK: - Addresses of options

extension ValueReader {
  /// A server for all requests, as in `3000`, or for those of a path, as in `/api=3000`.
  fileprivate mutating func proxy() -> Project.Page.Proxy? {
    let text = self.text.decoded
    var (path, server) = (Project.Page.Proxy.all[...], text[...])
    if text.hasPrefix("/") {
      path = text.prefix { $0 != "=" }
      if path.endIndex == text.endIndex {
        note("'\(written)' names no server; write \(written)=3000")
        return nil
      }
      server = text[path.endIndex...].dropFirst()
    }
    guard let address = address(String(server)) else { return nil }
    guard let rule = ProxyRule(path: String(path), server: address) else {
      note(
        "'\(path.printable)' is not a path to proxy; write one such as /api, "
          + "which includes all below it")
      return nil
    }
    return .init(path: rule.path, server: .url("http://\(address)"))
  }

  /// Parses `3000`, `:3000`, `localhost:3000` or `http://host:port/base`.
  mutating func address(_ text: String) -> ServerAddress? {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    let digits = text.hasPrefix(":") ? text.dropFirst() : text[...]
    let address = ServerAddress(url: text) ?? ServerAddress(authority: text)
    if text.dropFirst(scheme.count).hasPrefix("://") && scheme != "http" {
      note(
        "cannot proxy \(text.printable): servers are reached by http only; "
          + "write http://localhost:3000")
    } else if !digits.isEmpty, digits.utf8.allSatisfy(\.isDigitASCII) {
      if let port = UInt16(digits), port > 0 { return ServerAddress(port: port) }
      note("'\(digits)' is not a port from 1 to 65535")
    } else if let address, address.host.utf8.allSatisfy(\.isDigitASCII) {
      // A mapping of ports, as for containers.
      note(
        "'\(text.printable)' maps ports; write the server's, as in \(address.port); "
          + "the page's is --port \(address.host)")
    } else if address == nil {
      note(
        "'\(text.printable)' is not the address of a server; write 3000, localhost:3000 or "
          + "http://localhost:3000/base")
    } else {
      return address
    }
    return nil
  }
}

extension ServerAddress {
  /// Parses an address that begins with `http://`; `nil` for anything else.
  init?(url: String) {
    guard let address = HTTPAddress(url) else { return nil }
    let end = address.target.firstIndex(of: "?") ?? address.target.endIndex
    // A base path has no query.
    if end != address.target.endIndex { return nil }
    self.init(host: address.host, port: address.port, basePath: String(address.target[..<end]))
  }

  /// An address without a scheme must have a port, which distinguishes it from a command.
  fileprivate init?(authority text: String) {
    guard let address = Self(url: "http://" + text) else { return nil }
    let authority = text.prefix { $0 != "/" }
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    let hasPort = authority[end...].utf8.contains(UInt8(ascii: ":"))
    guard hasPort else { return nil }
    self = address
  }
}
