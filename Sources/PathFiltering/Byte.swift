/// Bytes with a meaning in patterns, paths and configuration files.
enum Byte {
  static let tab = UInt8(ascii: "\t")
  static let newline = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let exclamation = UInt8(ascii: "!")
  static let quote = UInt8(ascii: "\"")
  static let hash = UInt8(ascii: "#")
  static let star = UInt8(ascii: "*")
  static let hyphen = UInt8(ascii: "-")
  static let dot = UInt8(ascii: ".")
  static let slash = UInt8(ascii: "/")
  static let colon = UInt8(ascii: ":")
  static let semicolon = UInt8(ascii: ";")
  static let equals = UInt8(ascii: "=")
  static let question = UInt8(ascii: "?")
  static let openBracket = UInt8(ascii: "[")
  static let backslash = UInt8(ascii: "\\")
  static let closeBracket = UInt8(ascii: "]")
  static let caret = UInt8(ascii: "^")
  static let tilde = UInt8(ascii: "~")
}

extension UInt8 {
  /// The lowercase letter of an uppercase ASCII letter; any other byte itself.
  var lowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}

extension Collection<UInt8> {
  /// The bytes without a leading UTF-8 byte-order mark.
  var withoutByteOrderMark: SubSequence {
    starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
  }
}
