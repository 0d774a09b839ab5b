/// A URL that begins with `http://`.
package struct HTTPAddress: Hashable, Sendable {
  /// A host name or a numeric address, without brackets.
  package let host: String
  package let port: UInt16
  /// The path and the query, from the first slash.
  package let target: String

  /// Parses a URL. Returns `nil` if it is not supported.
  package init?(_ text: String) {
    let scheme = "http://"
    guard text.lowercased().hasPrefix(scheme),
      !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F })
    else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { !"/?#".contains($0) }
    let tail = rest.dropFirst(authority.count).prefix { $0 != "#" }
    target = tail.hasPrefix("/") ? String(tail) : "/" + tail
    var number: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[..<end].dropFirst())
      let suffix = authority[authority.index(after: end)...]
      guard suffix.isEmpty || suffix.hasPrefix(":") else { return nil }
      number = suffix.isEmpty ? nil : suffix.dropFirst()
    } else {
      let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, let name = parts.first, !name.contains("@") else { return nil }
      host = String(name)
      number = parts.count == 2 ? parts.last : nil
    }
    port = number.map { UInt16($0) ?? 0 } ?? 80
    if host.isEmpty || port == 0 { return nil }
  }

  /// The text of a GET request, after whose answer the server must close the connection.
  var request: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "GET \(target) HTTP/1.1\r\nHost: \(name):\(port)\r\nUser-Agent: watchrun\r\n"
      + "Accept: */*\r\nConnection: close\r\n\r\n"
  }

  /// The status in the first bytes of an answer; `nil` if it is incomplete or not HTTP.
  static func status(in answer: [UInt8]) -> Int? {
    // HTTP/1.1 200
    let prefix = Array("HTTP/1.".utf8)
    guard answer.count >= 12, answer.starts(with: prefix), answer[8] == UInt8(ascii: " ") else {
      return nil
    }
    return Int(String(decoding: answer[9..<12], as: UTF8.self))
  }
}
