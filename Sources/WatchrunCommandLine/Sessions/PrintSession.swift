import ActionRunning
import FileObservation
import SystemCalls
import WatchrunSettings

/// Prints changes and runs nothing: observer → stream.
struct PrintSession: Sendable {
  private let session: Session
  private let stream: PrintStream
  private let observer: FileObserver
  private let reporter: RunReporter

  init(_ session: Session, _ mode: Settings.PrintMode) throws(Failure) {
    self.session = session
    stream = PrintStream(mode: mode, separatesByNUL: session.settings.separatesByNUL)
    observer = try session.makeObserver(
      SessionPlan.Observation(paths: session.settings.effectiveWatched))
    reporter = RunReporter(session.console, directory: session.directory)
  }

  func begin() {
    UnmatchedFilter.warnSoon(session.settings, session.console, in: session.directory)
    session.listen()
    session.start(observer, countingFrom: session.began) { event in
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
      ended(after: try stream.write(readiness))
    case .changed(let batch):
      ended(after: try stream.write(batch))
    case .warning(let warning):
      session.console.warn(warning.text)
    }
  }

  /// Exits after the first batch if `--once` is given, and without a reader.
  private func ended(after written: Int?) {
    let isDone = written.map { $0 > 0 && session.settings.endsAfterFirstRun } ?? true
    if isDone { session.end(.exit(ExitCode.success)) }
  }
}
