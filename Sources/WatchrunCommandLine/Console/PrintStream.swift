import ActionRunning
import FileObservation
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Writes batches to standard output, each at once.
///
/// With `json`, the first record says that everything is watched, and batches wait for it. Calls must not
/// overlap.
final class PrintStream: Sendable {
  private let mode: Settings.PrintMode
  private let separatesByNUL: Bool
  /// Batches that came before the observer was ready; `nil` once it is, and in `lines` mode.
  private let waiting: Mutex<[ChangeBatch]?>

  init(mode: Settings.PrintMode, separatesByNUL: Bool) {
    self.mode = mode
    self.separatesByNUL = separatesByNUL
    waiting = Mutex(mode == .json ? [] : nil)
  }

  /// Writes the record that says that everything is watched, and the batches that waited for it.
  ///
  /// - Returns: The number of batches written; `nil` if there is no reader any more.
  func write(_ readiness: FileObserver.Readiness) throws(Failure) -> Int? {
    guard let batches = waiting.withLock({ $0.take() }) else { return 0 }
    let record = JSONWriter.encode { writer in
      writer.object {
        $0.member("ready", true)
        $0.member("watches", readiness.watches)
        $0.member("backend", readiness.backend)
        $0.member("version", JSONText.version)
      }
    }
    let records = [String(decoding: record, as: UTF8.self)] + batches.map(JSONText.batch)
    return try writeAnswer(records.flatMap(line)) ? batches.count : nil
  }

  /// Writes a batch, or keeps it until everything is watched.
  ///
  /// - Returns: The number of batches written; `nil` if there is no reader any more.
  func write(_ batch: ChangeBatch) throws(Failure) -> Int? {
    let waits = waiting.withLock { waiting in
      waiting?.append(batch)
      return waiting != nil
    }
    if waits { return 0 }
    let text =
      switch mode {
      case .json: line(JSONText.batch(batch))
      case .lines: Path.lines(batch.changes.map(\.path), separatedByNUL: separatesByNUL)
      }
    return try writeAnswer(text) ? 1 : nil
  }

  private func line(_ record: String) -> [UInt8] {
    Array(record.utf8) + [separatesByNUL ? 0 : UInt8(ascii: "\n")]
  }
}
