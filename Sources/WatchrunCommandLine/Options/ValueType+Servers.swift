import ActionRunning
import LiveReload
import Support

extension ValueType<[Project.Page.Proxy]> {
  /// A server for all requests, or for those of a path; as an object, of several paths.
  static var servers: Self {
    Self(.servers) { reader in
      guard let json = reader.json else {
        do throws(Failure) {
          let rule = try ProxyRule(parsing: reader.text.decoded)
          return [.init(path: rule.path, server: .url("http://\(rule.server)"))]
        } catch {
          reader.note(error.message)
          return nil
        }
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
    guard let url = url(json) else { return nil }
    if ServerAddress(url: url) == nil {
      note("the address of the server must not have a query; remove it", at: json.offset)
    }
    return .url(url)
  }

  /// The URL of a server that speaks HTTP without encryption.
  mutating func url(_ json: JSONValue) -> String? {
    if case .string(let text) = json.content {
      if HTTPAddress(text) != nil { return text }
      if text.lowercased().hasPrefix("https:") {
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

extension ProxyRule {
  /// Parses `3000` for all requests, or `/api=3000`.
  init(parsing text: String) throws(Failure) {
    guard text.hasPrefix("/") else {
      try self.init(path: "/", to: ServerAddress(parsing: text))
      return
    }
    let path = text.prefix { $0 != "=" }
    if path.endIndex == text.endIndex {
      throw .usage("'\(text.printable)' names no server; write \(text.printable)=3000")
    }
    let server = text[path.endIndex...].dropFirst()
    try self.init(path: String(path), to: ServerAddress(parsing: String(server)))
  }

  private init(path: String, to server: ServerAddress) throws(Failure) {
    guard let rule = Self(path: path, server: server) else {
      throw .usage(
        "'\(path.printable)' is not a path to proxy; write one such as /api, "
          + "which includes all below it")
    }
    self = rule
  }
}
extension ServerAddress {
  /// Parses `3000`, `:3000`, `localhost:3000` or `http://host:port/base`.
  init(parsing text: String) throws(Failure) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    if text.dropFirst(scheme.count).hasPrefix("://") && scheme != "http" {
      throw .usage(
        "cannot proxy \(text.printable): servers are reached by http only; write http://localhost:3000"
      )
    }
    let digits = text.hasPrefix(":") ? text.dropFirst() : text[...]
    if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard let port = UInt16(digits), port > 0 else {
        throw .usage("'\(digits)' is not a port from 1 to 65535")
      }
      self.init(port: port)
      return
    }
    let address = Self(url: text) ?? Self(authority: text)
    // A mapping of ports, as for containers.
    if let address, address.host.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      throw .usage(
        "'\(text.printable)' maps ports; write the server's, as in \(address.port); "
          + "the page's is --port \(address.host)")
    }
    guard let address else {
      throw .usage(
        "'\(text.printable)' is not the address of a server; write 3000, localhost:3000 or "
          + "http://localhost:3000/base")
    }
    self = address
  }

  /// Parses an address that begins with `http://`; `nil` for anything else.
  init?(url: String) {
    guard let address = HTTPAddress(url) else { return nil }
    let end = address.target.firstIndex(of: "?") ?? address.target.endIndex
    // A base path has no query.
    if end != address.target.endIndex { return nil }
    self.init(host: address.host, port: address.port, basePath: String(address.target[..<end]))
  }

  /// An address without a scheme must have a port, which distinguishes it from a command.
  private init?(authority text: String) {
    guard let address = Self(url: "http://" + text) else { return nil }
    let authority = text.prefix { $0 != "/" }
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    let hasPort = authority[end...].utf8.contains(UInt8(ascii: ":"))
    guard hasPort else { return nil }
    self = address
  }
}
