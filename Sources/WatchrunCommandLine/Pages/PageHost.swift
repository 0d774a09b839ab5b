import ActionRunning
import FileObservation
import LiveReload
import Synchronization
import SystemCalls
import WatchrunSettings

/// The pages of a session: opens and closes them, and forwards reports and changes to them.
///
/// Reports and batches must come from one queue, the runner's, so that pages see them in order.
final class PageHost: Sendable {
  private let server: PageServer
  private let reporter: PageReporter
  private let pages = Mutex<[Page]>([])

  /// - Parameter runAgain: Runs a task again. Called on a queue of the page server's.
  init(_ session: Session, runAgain: @escaping @Sendable (_ task: String) -> Void) {
    let reporter = PageReporter(session, runAgain)
    self.reporter = reporter
    let editor = EditorLauncher(session.settings.editor, console: session.console)
    server = PageServer(directory: session.directory) { host in
      "to allow it, pass --host \(host)"
    } report: {
      reporter.report($0)
    } openEditor: {
      editor.open($0, line: $1, column: $2)
    }
  }

  /// Opens, closes and replaces pages until exactly these are open.
  ///
  /// - Parameter opensBrowsers: Whether they are the first ones, of which each is needed.
  /// - Returns: The problems of those that cannot be opened. The next call tries again.
  func open(_ pages: [Page], opensBrowsers: Bool = false) -> [String] {
    let old = self.pages.withLock(\.self)
    for page in old where !pages.contains(page) { server.close(page: page.name) }
    var problems: [String] = []
    var open = pages.filter { old.contains($0) }
    for page in pages where !old.contains(page) {
      reporter.expect(page, opensBrowser: opensBrowsers)
      do throws(PageError) {
        try server.open(page)
        open.append(page)
      } catch {
        problems.append(error.text)
        if opensBrowsers { break }
      }
    }
    self.pages.withLock { [open] in $0 = open }
    return problems
  }

  func setPlan(_ plan: SessionPlan) {
    reporter.setPlan(plan)
    server.note(plan.activity)
  }

  func handle(_ activities: [Activity]) {
    for activity in activities { server.note(activity) }
  }

  func handle(_ output: TaskOutput) {
    if let activity = Activity(output) { server.note(activity) }
  }

  /// Forwards a batch. The runner must have received it before, so that the round that it causes has begun.
  func changed(_ batch: ChangeBatch) {
    changed(batch.changes.flatMap { [$0.path] + ($0.from.map { [$0] } ?? []) })
  }

  func changed(_ paths: [Path]) {
    if !paths.isEmpty { server.note(.changed(paths)) }
  }
}
