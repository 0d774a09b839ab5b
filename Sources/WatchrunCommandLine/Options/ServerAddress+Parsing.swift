import FileObservation
import LiveReload
import Support

// Parses addresses of servers: `3000`, `:3000`, `localhost:3000` or `http://host:port/base`.

extension ServerAddress {
  /// Parses an address in any of these forms.
  init(parsing text: String) throws(UsageError) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    if text.dropFirst(scheme.count).hasPrefix("://") && scheme != "http" {
      throw UsageError(
        "cannot proxy \(Path(text)): servers are reached by http only; write http://localhost:3000")
    }
    let digits = text.hasPrefix(":") ? text.dropFirst() : text[...]
    if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard let port = UInt16(digits), port > 0 else {
        throw UsageError("'\(digits)' is not a port from 1 to 65535")
      }
      self.init(port: port)
      return
    }
    let address = Self(url: text) ?? Self(authority: text)
    // A mapping of ports, as for containers.
    if let address, address.host.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      throw UsageError(
        "'\(Path(text))' maps ports; write the server's, as in \(address.port); "
          + "the page's is --port \(address.host)")
    }
    guard let address else {
      throw UsageError(
        "'\(Path(text))' is not the address of a server; write 3000, localhost:3000 or "
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
