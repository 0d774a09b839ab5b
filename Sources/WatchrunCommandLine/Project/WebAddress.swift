/// The address of something that speaks HTTP, without encryption: `http://host:port/path`.
struct WebAddress: Hashable, Sendable {
  var host: String
  var port: UInt16
  var path: String

  init?(_ text: String) {
    let scheme = "http://"
    guard text.hasPrefix(scheme), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    let rest = text.dropFirst(scheme.count)
    let place = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    path = String(rest.dropFirst(place.count))
    guard !place.contains("@") else { return nil }
    // An address of IPv6 stands between brackets.
    let nameEnd = place.lastIndex(of: "]").map { place.index(after: $0) } ?? place.startIndex
    if let colon = place[nameEnd...].firstIndex(of: ":") {
      host = String(place[..<colon])
      guard let port = UInt16(place[place.index(after: colon)...]), port > 0 else { return nil }
      self.port = port
    } else {
      host = String(place)
      port = 80
    }
    if host.isEmpty { return nil }
  }
}
