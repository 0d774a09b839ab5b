/// Where a page is asked for: an address that begins with `http://`.
package struct HTTPAddress: Hashable, Sendable {
  /// A name or a number, without brackets.
  package let host: String
  package let port: UInt16
  /// The path and the query, from the slash on.
  package let target: String

  /// Nil for what is no such address.
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
      let behind = authority[authority.index(after: end)...]
      guard behind.isEmpty || behind.hasPrefix(":") else { return nil }
      number = behind.isEmpty ? nil : behind.dropFirst()
    } else {
      let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, let name = parts.first, !name.contains("@") else { return nil }
      host = String(name)
      number = parts.count == 2 ? parts.last : nil
    }
    port = number.map { UInt16($0) ?? 0 } ?? 80
    if host.isEmpty || port == 0 { return nil }
  }

  /// The text of a request, after which the other side is to hang up.
  var request: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "GET \(target) HTTP/1.1\r\nHost: \(name):\(port)\r\nUser-Agent: watchrun\r\n"
      + "Accept: */*\r\nConnection: close\r\n\r\n"
  }

  /// The status in the first bytes of an answer; nil if it is none, or not all there yet.
  static func status(in answer: [UInt8]) -> Int? {
    // HTTP/1.1 200
    let prefix = Array("HTTP/1.".utf8)
    guard answer.count >= 12, answer.starts(with: prefix), answer[8] == UInt8(ascii: " ") else {
      return nil
    }
    return Int(String(decoding: answer[9..<12], as: UTF8.self))
  }
}
