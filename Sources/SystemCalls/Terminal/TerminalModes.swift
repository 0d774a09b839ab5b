/// The modes of a terminal (`termios`).
package struct TerminalModes: Sendable {
  var raw: termios

  /// These modes without line editing and echo: each key can be read at once. Keys still send signals, and
  /// output is processed as before.
  package var forKeys: TerminalModes {
    var modes = self
    modes.raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    // A read waits for one byte, without a time limit.
    withUnsafeMutableBytes(of: &modes.raw.c_cc) { characters in
      (characters[Int(VMIN)], characters[Int(VTIME)]) = (1, 0)
    }
    return modes
  }
}

extension TerminalModes: Equatable {
  package static func == (left: TerminalModes, right: TerminalModes) -> Bool {
    left.raw.c_iflag == right.raw.c_iflag && left.raw.c_oflag == right.raw.c_oflag
      && left.raw.c_cflag == right.raw.c_cflag && left.raw.c_lflag == right.raw.c_lflag
      && left.controlCharacters == right.controlCharacters
  }

  private var controlCharacters: [UInt8] {
    withUnsafeBytes(of: raw.c_cc) { Array($0) }
  }
}
