import FileObservation

extension Path {
  /// The paths, one per line, or each followed by a NUL.
  package static func lines(_ paths: [Path], separatedByNUL: Bool) -> [UInt8] {
    var text: [UInt8] = []
    for path in paths {
      text += separatedByNUL ? path.bytes : path.quotedIfNeeded
      text.append(separatedByNUL ? 0 : UInt8(ascii: "\n"))
    }
    return text
  }

  /// The bytes of the path. With control characters, which could fake a line, it is quoted as by git.
  package var quotedIfNeeded: [UInt8] {
    guard bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return bytes }
    var quoted: [UInt8] = [UInt8(ascii: "\"")]
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\n"): quoted += Array(#"\n"#.utf8)
      case UInt8(ascii: "\t"): quoted += Array(#"\t"#.utf8)
      case UInt8(ascii: "\r"): quoted += Array(#"\r"#.utf8)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
      case ..<0x20, 0x7F:
        let octal = String(byte, radix: 8)
        quoted += Array((#"\"# + String(repeating: "0", count: 3 - octal.count) + octal).utf8)
      default: quoted.append(byte)
      }
    }
    return quoted + [UInt8(ascii: "\"")]
  }
}
