/// The authority of a URL: a host, with a port if there is one. The host is not checked.
package struct HostAndPort {
  /// The host as it is written, an IPv6 address in its brackets.
  package let host: ArraySlice<UInt8>
  package let port: UInt16?

  /// Splits `host`, `host:port` or `[address]:port`. `nil` if the port is not from 1 to 65535, or a bracket is
  /// missing.
  package init?(_ text: ArraySlice<UInt8>) {
    // A colon within brackets is a part of the address.
    let bracket = text.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
    let colon = text[bracket...].firstIndex(of: UInt8(ascii: ":"))
    host = text[..<(colon ?? text.endIndex)]
    port = colon.flatMap { text[($0 + 1)...].decimal() }.flatMap { UInt16(exactly: $0) }
    let hasBrackets = host.first == UInt8(ascii: "[")
    if colon != nil && port ?? 0 == 0 || hasBrackets != (host.last == UInt8(ascii: "]")) {
      return nil
    }
  }

  /// The host without brackets.
  package var name: ArraySlice<UInt8> {
    host.first == UInt8(ascii: "[") ? host.dropFirst().dropLast() : host
  }
}

/// A host as in a URL: an IPv6 address in brackets.
package func bracketed(_ host: String) -> String {
  host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
}

extension ArraySlice<UInt8> {
  /// The authority of a URL with this beginning, in any case, and what follows it. `nil` for another one.
  package func splitURL(
    after beginning: String
  ) -> (authority: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    let length = beginning.utf8.count
    guard prefix(length).map(\.lowercasedASCII).elementsEqual(beginning.utf8) else { return nil }
    let authority = dropFirst(length).prefix { !"/?#".utf8.contains($0) }
    return (authority, self[authority.endIndex...])
  }
}
