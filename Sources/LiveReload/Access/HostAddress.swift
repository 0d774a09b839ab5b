/// The host of a URL or a `Host` header: a name or an address, in its canonical spelling.
enum HostAddress: Hashable, Sendable {
  /// A name in lowercase, without a trailing dot.
  case name([UInt8])
  /// An IPv4 address, also if mapped to IPv6, such as `::ffff:127.0.0.1`.
  case v4(UInt32)
  /// The eight groups of an IPv6 address.
  case v6([UInt16])

  /// Parses a name, an IPv4 address, or an IPv6 address in brackets.
  init?(_ text: some Collection<UInt8>) {
    let bytes = Array(text)
    if bytes.first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"), bytes.count > 2 else { return nil }
      self.init(v6: bytes[1..<bytes.count - 1])
    } else if let number = Self.v4(bytes[...]) {
      self = .v4(number)
    } else {
      let name = (bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...]).lowercasedASCII
      guard Self.isName(name) else { return nil }
      self = .name(name)
    }
  }

  /// Parses a host of an option. An IPv6 address needs no brackets, and may have a zone, which is
  /// ignored.
  init?(host text: String) {
    let bytes = text.utf8.prefix { $0 != UInt8(ascii: "%") }
    guard let address = Self(bytes) ?? Self(v6: ArraySlice(bytes)) else { return nil }
    self = address
  }

  /// Parses an IPv6 address without brackets.
  private init?(v6 text: ArraySlice<UInt8>) {
    guard let groups = Self.groups(text) else { return nil }
    if groups.prefix(5).allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
      self = .v4(UInt32(groups[6]) << 16 | UInt32(groups[7]))
    } else {
      self = .v6(groups)
    }
  }

  /// Whether it is an address, and not a name, which any DNS server may resolve.
  var isAddress: Bool {
    if case .name = self { false } else { true }
  }

  /// Whether it means all addresses of this machine, as `0.0.0.0` does.
  var isUnspecified: Bool {
    self == .v4(0) || self == .v6([UInt16](repeating: 0, count: 8))
  }

  /// Whether it means this machine in every resolver and browser.
  var isLoopback: Bool {
    switch self {
    case .name(let name): name.elementsEqual("localhost".utf8) || name.hasSuffix(".localhost")
    case .v4(let number): number >> 24 == 127
    case .v6(let groups): groups == [0, 0, 0, 0, 0, 0, 0, 1]
    }
  }

  /// Whether it is an address that no public server can have.
  var isPrivate: Bool {
    switch self {
    case .name: false
    case .v4(let number):
      number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8
        || number >> 16 == 0xA9FE || number >> 22 == 0x191
    case .v6(let groups): groups[0] & 0xFE00 == 0xFC00 || groups[0] & 0xFFC0 == 0xFE80
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

  /// Four numbers without leading zeros.
  private static func v4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var number: UInt32 = 0
    for part in parts {
      guard part.count <= 3, part.count == 1 || part.first != UInt8(ascii: "0"),
        let byte = part.decimal(), byte <= 255
      else { return nil }
      number = number << 8 | UInt32(byte)
    }
    return number
  }

  private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    let colon = UInt8(ascii: ":")
    var halves: [ArraySlice<UInt8>] = [text]
    if let gap = zip(text.indices, text.indices.dropFirst()).first(where: {
      text[$0] == colon && text[$1] == colon
    }) {
      halves = [text[..<gap.0], text[(gap.1 + 1)...]]
    }
    var lists: [[UInt16]] = []
    for (index, half) in halves.enumerated() {
      guard !half.isEmpty else {
        if halves.count == 1 { return nil }
        lists.append([])
        continue
      }
      var groups: [UInt16] = []
      let parts = half.split(separator: colon, omittingEmptySubsequences: false)
      for (position, part) in parts.enumerated() {
        let isLast = index == halves.count - 1 && position == parts.count - 1
        if isLast, part.contains(UInt8(ascii: ".")) {
          guard let number = v4(part) else { return nil }
          groups += [UInt16(number >> 16), UInt16(number & 0xFFFF)]
        } else {
          guard let group = hexadecimal(part) else { return nil }
          groups.append(group)
        }
      }
      lists.append(groups)
    }
    let count = lists.joined().count
    if halves.count == 1 { return count == 8 ? lists[0] : nil }
    guard count < 8 else { return nil }
    return lists[0] + [UInt16](repeating: 0, count: 8 - count) + lists[1]
  }

  private static func hexadecimal(_ text: ArraySlice<UInt8>) -> UInt16? {
    guard (1...4).contains(text.count) else { return nil }
    var number: UInt16 = 0
    for byte in text {
      guard let digit = byte.hexadecimalValue else { return nil }
      number = number << 4 | UInt16(digit)
    }
    return number
  }
}

extension [UInt8] {
  fileprivate func hasSuffix(_ text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
