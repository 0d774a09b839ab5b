import ActionRunning
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
      let paths = batch.changes.map(\.path)
      try writeAll(Path.lines(paths, separatedByNUL: separatesByNUL), to: STDOUT_FILENO)
    }
  }

  private func write(_ text: String) throws(SystemError) {
    try writeAll(Array(text.utf8), to: STDOUT_FILENO)
  }
}
