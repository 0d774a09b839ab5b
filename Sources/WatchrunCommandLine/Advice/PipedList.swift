import Dispatch
import Support
import SystemCalls

/// A list of files on standard input that was meant for watchrun, as in `ls *.c | watchrun make`.
///
/// Other tools read such a list by default. Here standard input belongs to the command, so the list is
/// recognised without consuming it.
enum PipedList {
  /// After this time the program that writes the list has begun.
  private static let delay = DispatchTimeInterval.milliseconds(300)

  /// Warns if standard input is a pipe in which a list waits soon after the start.
  static func warnSoon(_ console: Console, in directory: Path) {
    guard peekPipe(STDIN_FILENO, atMost: 1) != nil else { return }
    DispatchQueue.separate().asyncAfter(deadline: .now() + delay) { @Sendable in
      let text = peekPipe(STDIN_FILENO, atMost: 4096) ?? []
      guard let path = firstPath(in: text, directory) else { return }
      console.warn(
        "standard input lists files (\(path) …), which is not read; to watch only these, "
          + "add --files-from -")
    }
  }

  /// The first line of a text if it names a file.
  static func firstPath(in text: [UInt8], _ directory: Path) -> Path? {
    guard let end = text.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == 0 }), end > 0 else {
      return nil
    }
    let path = Path(bytes: text[..<end])
    return (try? FileStatus(of: path.absolute(from: directory))) == nil ? nil : path
  }
}
