import ActionRunning
import FileObservation
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Prints batches, each at once, and runs nothing.
///
/// With `json`, the first record says that everything is watched, and batches wait for it.
final class PrintSession: Sendable {
  private let session: Session
  private let mode: Settings.PrintMode
  private let observer: FileObserver
  private let reporter: RunReporter
  /// Batches that came before the observer was ready; `nil` once it is, and in `lines` mode.
  private let waiting: Mutex<[ChangeBatch]?>

  init(_ session: Session, _ mode: Settings.PrintMode) throws(Failure) {
    (self.session, self.mode) = (session, mode)
    observer = try session.makeObserver(
      SessionPlan.Observation(paths: session.settings.effectiveWatched))
    reporter = RunReporter(session.console, directory: session.directory)
    waiting = Mutex(mode == .json ? [] : nil)
  }

  func begin() {
    let settings = session.settings
    UnmatchedFilter.warnSoon(
      settings, of: settings.effectiveWatched, session.console, in: session.directory)
    session.listen()
    session.start(observer, countingFrom: session.began) { [self] event in
      do throws(Failure) {
        try handle(event)
      } catch {
        session.console.problem(error.message)
        session.end(.exit(error.status))
      }
    }
  }

  private func handle(_ event: FileObserver.Event) throws(Failure) {
    switch event {
    case .ready(let readiness):
      reporter.report(readiness)
      guard let batches = waiting.withLock({ $0.take() }) else { return }
      let records = [record(of: readiness)] + batches.map(JSONText.batch)
      try print(records.flatMap(line), of: batches.count)
    case .changed(let batch):
      let waits = waiting.withLock { waiting in
        waiting?.append(batch)
        return waiting != nil
      }
      if waits { return }
      let text =
        switch mode {
        case .json: line(JSONText.batch(batch))
        case .lines:
          Path.lines(
            batch.changes.map(\.path), separatedByNUL: session.settings.separatesByNUL)
        }
      try print(text, of: 1)
    case .warning(let warning):
      session.console.warn(warning.text)
    }
  }

  private func record(of readiness: FileObserver.Readiness) -> String {
    JSONWriter.object {
      $0.member("ready", true)
      $0.member("watches", readiness.watches)
      $0.member("backend", readiness.backend)
      $0.member("version", JSONText.version)
    }.decoded
  }

  private func line(_ record: String) -> [UInt8] {
    Array(record.utf8) + [session.settings.separatesByNUL ? 0 : UInt8(ascii: "\n")]
  }

  /// Prints so many batches. Exits after the first one if `--once` is given, and without a reader.
  private func print(_ text: [UInt8], of count: Int) throws(Failure) {
    let isRead = try writeAnswer(text)
    if !isRead || count > 0 && session.settings.endsAfterFirstRun {
      session.end(.exit(ExitCode.success))
    }
  }
}
