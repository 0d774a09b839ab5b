import SystemCalls
import TestSupport

/// A pseudo-terminal that a test types on, and whose output and modes it reads.
final class PseudoTerminal: Sendable {
  /// Where programs open it.
  let path: String
  /// The output of programs.
  let output: ByteCollector
  private let ours: Int32
  /// Kept open, so that the terminal outlives the programs on it.
  private let theirs: Int32
  private let stop: (reader: Int32, writer: Int32)

  init() throws {
    (ours, theirs, path) = try openPseudoTerminal()
    stop = try ChildProcess.openPipe()
    output = ByteCollector(reading: ours, until: stop.reader)
    resize(rows: 24, columns: 80)
  }

  deinit {
    hangUp()
    close(theirs)
    close(stop.reader)
    close(stop.writer)
  }

  func type(_ text: String) throws {
    try writeAll(Array(text.utf8), to: ours)
  }

  /// Waits until all that programs have written so far is in `output`, which a thread of its own reads,
  /// perhaps later.
  func drain() async throws {
    // The terminal keeps the order.
    let mark = Array("\u{1B}_all of this is read\u{1B}\\".utf8)
    try? writeAll(mark, to: theirs)
    try await eventually("the terminal's output is read") {
      // After a hang-up, nothing more is read.
      output.isAtEnd || output.remove(mark)
    }
  }

  /// The current modes, without the flag for pending input.
  var modes: TerminalModes {
    get throws { try Terminal(ours).modes() }
  }

  /// The foreground process group.
  var foregroundGroup: pid_t? { Terminal(ours).foregroundGroup }

  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(ours, UInt(TIOCSWINSZ), &size)
  }

  /// Closes it, as when its window is closed.
  func hangUp() {
    try? writeAll([0], to: stop.writer)
  }
}

/// Keys that are not letters.
enum Keystroke {
  static let controlC = "\u{3}"
  static let controlD = "\u{4}"
  static let controlZ = "\u{1A}"
  static let controlBackslash = "\u{1C}"
  static let enter = "\r"
  static let escape = "\u{1B}"
}
