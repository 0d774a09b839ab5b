/// A URL that begins with `http://`, or with `https://` where that is allowed.
package struct HTTPAddress: Hashable, Sendable {
  /// A host name or a numeric address, without brackets.
  package let host: String
  package let port: UInt16
  /// The path and the query, from the first slash.
  package let target: String
  /// Whether the connection is encrypted.
  package let isEncrypted: Bool

  /// Parses a URL. Returns `nil` if it is not supported.
  package init?(_ text: String, allowsTLS: Bool = false) {
    let bytes = Array(text.utf8)
    let encrypted = allowsTLS ? bytes[...].splitURL(after: "https://") : nil
    isEncrypted = encrypted != nil
    guard !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
      let (authority, rest) = encrypted ?? bytes[...].splitURL(after: "http://"),
      let place = HostAndPort(authority), !place.host.contains(UInt8(ascii: "@"))
    else { return nil }
    let tail = rest.prefix { $0 != UInt8(ascii: "#") }
    let slash = tail.first == UInt8(ascii: "/") ? "" : "/"
    target = slash + String(decoding: tail, as: UTF8.self)
    host = String(decoding: place.name, as: UTF8.self)
    port = place.port ?? (isEncrypted ? 443 : 80)
    if host.isEmpty { return nil }
  }

  /// The text of a GET request, after whose answer the server must close the connection.
  package var request: String {
    "GET \(target) HTTP/1.1\r\nHost: \(bracketed(host)):\(port)\r\nUser-Agent: watchrun\r\n"
      + "Accept: */*\r\nConnection: close\r\n\r\n"
  }

  /// The status in the first bytes of an answer; `nil` if it is incomplete or not HTTP.
  package static func status(in answer: [UInt8]) -> Int? {
    // HTTP/1.1 200
    let prefix = Array("HTTP/1.".utf8)
    guard answer.count >= 12, answer.starts(with: prefix), answer[8] == UInt8(ascii: " ") else {
      return nil
    }
    return Int(String(decoding: answer[9..<12], as: UTF8.self))
  }
}
