import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Synchronization
import SystemCalls

/// Serves a page and runs nothing: observer → page.
final class PageSession: Sendable {
  private let session: Session
  private let observer: FileObserver
  private let reporter: RunReporter
  private let host: PageHost
  private let page: Page
  /// Changed paths during a pause; `nil` while there is none.
  private let paused = Mutex<[Path]?>(nil)

  init(_ session: Session, _ page: Page) throws(Failure) {
    self.session = session
    self.page = page
    let settings = session.settings
    // Served files count even if git ignores them.
    let sources = settings.served == nil ? nil : settings.ignoreSources.intersection(.defaults)
    // A reload is cheap, and a second one replaces the first while it is under way.
    observer = try session.makeObserver(
      of: settings.watchedWithPage, sources: sources,
      adaptiveQuietPeriod: .growing(.milliseconds(1) ... .milliseconds(100)))
    reporter = RunReporter(console: session.console, command: [], directory: session.directory)
    host = PageHost(session)
  }

  func begin() throws(Failure) {
    try host.open([page])
    session.listen()
    session.readKeys(KeyPresses(reporter, ignored: session.ignoredChanges), for: self)
    session.start(observer, countingFrom: session.began) { [self] event in
      switch event {
      case .ready(let readiness):
        reporter.report(readiness)
      case .changed(let batch):
        reporter.report(batch)
        changed(batch)
      case .warning(let warning):
        session.warn(warning)
      }
    }
  }

  private func changed(_ batch: ChangeBatch) {
    let isPaused = paused.withLock { paused in
      paused?.append(contentsOf: batch.changes.map(\.path))
      return paused != nil
    }
    if !isPaused { host.changed(batch) }
  }
}

extension PageSession: KeyListener {
  /// Reloads the page.
  func runNow() {
    host.changed(page.watched)
  }

  func stopNow() {}

  func pause() {
    paused.withLock { $0 = [] }
  }

  func resume() {
    host.changed(paused.withLock { $0.take() } ?? [])
  }
}
