import SystemCalls

/// The host of a URL or a `Host` header: a name or an address, in its canonical spelling.
package enum HostAddress: Hashable, Sendable {
  /// A name in lowercase, without a trailing dot.
  case name([UInt8])
  /// An IPv4 address, also if mapped to IPv6, such as `::ffff:127.0.0.1`.
  case v4(UInt32)
  /// The 16 bytes of an IPv6 address.
  case v6([UInt8])

  /// Parses a name, an IPv4 address, or an IPv6 address in brackets.
  package init?(_ text: some Collection<UInt8>) {
    let bytes = Array(text)
    if bytes.first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"), bytes.count > 2 else { return nil }
      self.init(v6: bytes[1..<bytes.count - 1])
    } else if let address = ipv4Bytes(bytes) {
      self = .v4(Self.number(address))
    } else {
      let name = (bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...])
        .map(\.lowercasedASCII)
      guard Self.isName(name) else { return nil }
      self = .name(name)
    }
  }

  /// Parses a host of an option. An IPv6 address needs no brackets, and may have a zone, which is
  /// ignored.
  package init?(host text: String) {
    let bytes = text.utf8.prefix { $0 != UInt8(ascii: "%") }
    guard let address = Self(bytes) ?? Self(v6: ArraySlice(bytes)) else { return nil }
    self = address
  }

  /// Parses an IPv6 address without brackets.
  private init?(v6 text: ArraySlice<UInt8>) {
    guard let bytes = ipv6Bytes(text) else { return nil }
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] & bytes[11] == 0xFF
    self = isMapped ? .v4(Self.number(bytes[12...])) : .v6(bytes)
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Whether it is an address, and not a name, which any DNS server may resolve.
  package var isAddress: Bool {
    if case .name = self { false } else { true }
  }

  /// Whether it means all addresses of this machine, as `0.0.0.0` does.
  package var isUnspecified: Bool {
    self == .v4(0) || self == .v6([UInt8](repeating: 0, count: 16))
  }

  /// Whether it means this machine in every resolver and browser.
  package var isLoopback: Bool {
    switch self {
    case .name(let name):
      name.elementsEqual("localhost".utf8) || name.suffix(10).elementsEqual(".localhost".utf8)
    case .v4(let number): number >> 24 == 127
    case .v6(let bytes): bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
  }

  /// Whether it is that of a server on this machine.
  package var isLocal: Bool { isLoopback || isUnspecified }

  /// Whether it is an address that no public server can have.
  package var isPrivate: Bool {
    switch self {
    case .name: false
    case .v4(let number):
      number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8
        || number >> 16 == 0xA9FE || number >> 22 == 0x191
    case .v6(let bytes): bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }
  }

  /// Whether the labels are valid in a host name, and the last one is not a number.
  private static func isName(_ name: [UInt8]) -> Bool {
    guard name.count <= 253 else { return false }
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let areSound = labels.allSatisfy { label in
      (1...63).contains(label.count)
        && label.allSatisfy {
          $0.isLetterASCII || $0.isDigitASCII || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }
    guard areSound, let last = labels.last else { return false }
    // Browsers parse `0x7f.1` as an address.
    let isNumber = last.allSatisfy(\.isDigitASCII) || last.starts(with: "0x".utf8)
    return !isNumber
  }
}
