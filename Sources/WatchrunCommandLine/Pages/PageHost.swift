import ActionRunning
import FileObservation
import LiveReload
import Support
import Synchronization
import SystemCalls

/// The pages of a session: opens and closes them, and forwards reports and changes to them.
///
/// Reports and batches must come from one queue, the runner's, so that pages see them in order.
final class PageHost: Sendable {
  private struct State {
    var pages: [Page] = []
    var translator: ActivityTranslator
  }

  private let server: PageServer
  private let reporter: PageReporter
  private let state: Mutex<State>

  init(_ session: Session) {
    let reporter = PageReporter(session)
    self.reporter = reporter
    server = PageServer(directory: session.directory) { reporter.report($0) }
    state = Mutex(State(translator: ActivityTranslator(directory: session.directory)))
  }

  /// Opens the first pages.
  func open(_ pages: [Page]) throws(Failure) {
    for page in pages {
      reporter.expect(page, opensBrowser: true)
      do throws(PageError) {
        try server.open(page)
      } catch {
        throw Failure(error.text, ExitCode.failure)
      }
    }
    state.withLock { $0.pages = pages }
  }

  /// Opens, closes and replaces pages until exactly these are open.
  ///
  /// - Returns: The problems of those that cannot be opened. The next call tries again.
  func replace(with pages: [Page]) -> [String] {
    let old = state.withLock { $0.pages }
    for page in old where !pages.contains(page) { server.close(page: page.name) }
    var problems: [String] = []
    var open = pages.filter { old.contains($0) }
    for page in pages where !old.contains(page) {
      reporter.expect(page, opensBrowser: false)
      do throws(PageError) {
        try server.open(page)
        open.append(page)
      } catch {
        problems.append(error.text)
      }
    }
    state.withLock { [open] in $0.pages = open }
    return problems
  }

  /// Replaces the tasks.
  func take(_ plan: SessionPlan) {
    reporter.take(plan)
    server.note(state.withLock { $0.translator.take(plan) })
  }

  /// Forwards a report of the runner.
  func take(_ report: TaskReport) {
    for activity in state.withLock({ $0.translator.activities(for: report) }) {
      server.note(activity)
    }
  }

  /// Forwards output of the tasks.
  func take(_ output: TaskOutput) {
    if let activity = state.withLock({ $0.translator.activity(for: output) }) {
      server.note(activity)
    }
  }

  /// Forwards a batch. The runner must have received it before, so that the round that it causes has begun.
  func changed(_ batch: ChangeBatch) {
    changed(batch.changes.flatMap { [$0.path] + ($0.from.map { [$0] } ?? []) })
  }

  /// Forwards absolute paths that changed.
  func changed(_ paths: [Path]) {
    if !paths.isEmpty { server.note(.changed(paths)) }
  }

  /// Whether a string can be the name or the address of a host.
  static func isValid(_ host: String) -> Bool {
    !host.isEmpty
      && host.utf8.allSatisfy { byte in
        JSONParser.isNameByte(byte) && byte < 0x80 || Array("-.:%".utf8).contains(byte)
      }
  }
}
