import FileObservation
import SystemCalls

/// Writes batches to standard output, each at once.
struct PrintStream: Sendable {
  let mode: Settings.PrintMode
  let separatesByNUL: Bool

  /// Says that everything is watched; in `lines` mode, which is for paths alone, nothing.
  func write(_ readiness: FileObserver.Readiness) throws(SystemError) {
    guard mode == .json else { return }
    let backend = JSONText.string(readiness.backend)
    try write(#"{"ready":true,"watches":\#(readiness.watches),"backend":\#(backend)}"# + "\n")
  }

  func write(_ batch: ChangeBatch) throws(SystemError) {
    switch mode {
    case .json:
      try write(JSONText.batch(batch) + "\n")
    case .lines:
      let bytes = batch.changes.flatMap { change -> [UInt8] in
        separatesByNUL ? change.path.bytes + [0] : change.path.quotedIfNeeded + [UInt8(ascii: "\n")]
      }
      try writeAll(bytes, to: STDOUT_FILENO)
    }
  }

  private func write(_ text: String) throws(SystemError) {
    try writeAll(Array(text.utf8), to: STDOUT_FILENO)
  }
}

extension Path {
  /// The bytes as they are; but one with a control character, which could forge a line or command a
  /// terminal, stands between quotes and escaped, as git shows such a path.
  var quotedIfNeeded: [UInt8] {
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
