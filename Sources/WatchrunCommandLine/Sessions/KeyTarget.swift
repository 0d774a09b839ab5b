import ActionRunning
import Diagnostics
import LiveReload
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Performs keys: on the runner, or on pages where nothing is run.
final class KeyTarget: Sendable {
  let session: RunSession
  let runner: TaskRunner
  private var console: Console { session.session.console }
  private let errors = Mutex(ErrorCursor())

  init(session: RunSession, runner: TaskRunner) {
    (self.session, self.runner) = (session, runner)
  }

  func runNow() {
    runner.submitKey()
    if session.state.withLock(\.plan.hasOnlyPages) { _ = reload() }
  }

  func stopNow() { runner.stop() }

  /// Reloads the pages. Returns false if there is none.
  func reload() -> Bool {
    let (pages, watched) = session.state.withLock { state in
      (state.pages, state.plan.pages.flatMap(\.watched))
    }
    pages?.changed(watched)
    return pages != nil
  }

  func pause() { runner.pause() }

  func resume() {
    runner.resume()
    // The runner has resumed by then.
    runner.queue.async { [session] in
      let (pages, paths) = session.state.withLock {
        ($0.pages, exchange(&$0.heldPaths, with: []))
      }
      pages?.changed(paths)
    }
  }

  func runFailed() {
    session.desk.withAnswer { [self] answer in
      let failed = answer.tasks.filter { $0.state == "failed" }.map(\.name)
      if failed.isEmpty { return console.say(.answer, "nothing has failed") }
      runner.submitKey(for: failed)
    }
  }

  /// Gives the terminal to the next run of a task, which is requested.
  func giveTerminal(to task: String) {
    let plan = session.state.withLock(\.plan)
    // The only task goes without saying.
    let named = task.isEmpty ? plan.tasks.map(\.name) : plan.tasks(namedBy: task)
    let name = named.count == 1 ? named[0] : task
    if let refusal = session.desk.refusal(of: [name]) { return console.say(.answer, refusal) }
    if named.count > 1 {
      let all = named.map(\.printable).joined(separator: ", ")
      return console.say(.answer, "\(name) stands for several tasks; name one: \(all)")
    }
    console.say(.answer, "the next run of \(name) has the terminal")
    runner.submitKey(forTerminalOf: name)
  }

  /// Shows the last output of a task, counted from 1; 0 stands for all.
  func showOutput(of number: Int) {
    session.desk.withAnswer { [self] answer in
      let tasks = number == 0 ? answer.tasks : Array(answer.tasks.dropFirst(number - 1).prefix(1))
      if tasks.isEmpty {
        console.say(.answer, "there is no task \(number); 0 shows all")
      }
      for task in tasks { session.reporter.show(task) }
    }
  }

  /// Shows an error, and opens it in the editor.
  func showError(movedBy step: Int, opens: Bool) {
    let found = errors.withLock { $0.move(by: step, in: session.desk.diagnostics) }
    guard let (diagnostic, text) = found else { return console.say(.answer, "no error is known") }
    console.say(.answer, "\(text): \(diagnostic.text(in: session.session.directory))")
    if opens { open(diagnostic) }
  }

  private func open(_ diagnostic: Diagnostic) {
    guard let path = diagnostic.path else { return }
    let line = diagnostic.line ?? 1
    let named = session.session.settings.editor
    let inTerminal = EditorLauncher.settingForTerminal(named).flatMap { setting in
      Editor(setting: setting, path: path, line: line, column: diagnostic.column)
    }
    guard let inTerminal, inTerminal.needsTerminal else {
      _ = EditorLauncher(named, console: console).open(path, line: line, column: diagnostic.column)
      return
    }
    runner.launchInTerminal(inTerminal.arguments) { [console] in
      console.lendTerminal()
    } ended: { [console] result in
      console.reclaimTerminal()
      if case .failure(let error) = result {
        console.problem("cannot open the editor: \(error.description)")
      }
    }
  }
}
