import ActionRunning
import Dispatch
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
    /// Counts the runs of the command.
    var runNumber = 0
  }

  private let server: PageServer
  private let reporter: PageReporter
  private let state: Mutex<State>

  init(_ session: Session, command: CommandTasks? = nil) {
    let reporter = PageReporter(session)
    self.reporter = reporter
    server = PageServer(directory: session.directory) { reporter.report($0) }
    state = Mutex(State(translator: ActivityTranslator(command, directory: session.directory)))
    if let command { server.note(command.activity) }
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

  /// Replaces the tasks of a project.
  ///
  /// - Parameter commands: The commands by task, as a user writes them.
  func take(_ graph: TaskGraph, commands: [String: String]) {
    server.note(state.withLock { $0.translator.take(graph, commands: commands) })
  }

  /// Forwards a report of the command line's queue.
  func note(_ report: RunReport) {
    let (activities, number) = state.withLock { state in
      if case .started(let run) = report, run.job == .command { state.runNumber += 1 }
      return (state.translator.activities(for: report), state.runNumber)
    }
    for activity in activities { server.note(activity) }
    guard case .started(let run) = report, run.job == .command else { return }
    // A server of the command line has no readiness check. The proxy makes requests wait for it, but pages
    // must not reload before it has had time to start.
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeToBegin) { @Sendable [self] in
      let activities = state.withLock { state in
        state.runNumber == number ? state.translator.serverHasBegun() : []
      }
      for activity in activities { server.note(activity) }
    }
  }

  private static let timeToBegin = DispatchTimeInterval.milliseconds(40)

  /// Forwards a report of a project's runner.
  func note(_ report: TaskReport) {
    for activity in state.withLock({ $0.translator.activities(for: report) }) {
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
