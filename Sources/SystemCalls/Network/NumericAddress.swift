/// The 4 bytes of an IPv4 address: four decimal numbers without leading zeros.
package func ipv4Bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
  numericAddress(AF_INET, Array(text), count: 4)
}

/// The 16 bytes of an IPv6 address without brackets and zone.
package func ipv6Bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
  numericAddress(AF_INET6, Array(text), count: 16)
}

private func numericAddress(_ family: Int32, _ text: [UInt8], count: Int) -> [UInt8]? {
  var address = [UInt8](repeating: 0, count: count)
  let isValid = Path(bytes: text).withCString { inet_pton(family, $0, &address) == 1 }
  // The C function would stop at a NUL.
  return isValid && !text.contains(0) ? address : nil
}

/// The addresses of this machine at which only its own processes reach a server.
package let loopbackAddresses = ["127.0.0.1", "::1"]

/// The numeric addresses to connect to, in this order. A server on `localhost`, or on a name below it, which few
/// resolvers know (RFC 6761), may listen at either loopback address. Looking up any other name may take long.
package func addressesToTry(of host: String) -> [String] {
  var name = host.lowercased()[...]
  // It says that the name is complete.
  if name.last == "." { name.removeLast() }
  if name == "localhost" || name.hasSuffix(".localhost") { return loopbackAddresses }
  var text = [CChar](repeating: 0, count: 4096)
  guard csystem_addresses(host, &text, text.count) == 0 else { return [] }
  return Path(cString: text).bytes.split(separator: UInt8(ascii: "\n"))
    .map { String(decoding: $0, as: UTF8.self) }
}
