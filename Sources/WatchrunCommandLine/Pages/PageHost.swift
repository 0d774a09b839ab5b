import ActionRunning
import Dispatch
import FileObservation
import LiveReload
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// The pages of a session: opens and closes them, forwards reports and changes to them, and does what they report:
/// prints their URLs and messages, opens browsers, and runs tasks again.
///
/// Reports and batches must come from one queue, the runner's, so that pages see them in order.
final class PageHost: Sendable {
  private struct State {
    var server: PageServer?
    /// The pages that are open, or are being opened.
    var pages: [Page] = []
    /// The names in front of the lines of pages.
    var labels: [String: TaskLabel] = [:]
    /// The names of the pages for which no browser has been opened yet.
    var unopened: Set<String> = []
  }

  private let console: Console
  private let directory: Path
  private let browser: BrowserLauncher?
  private let runAgain: @Sendable (_ task: String) -> Void
  private let state = Mutex(State())
  private var server: PageServer? { state.withLock(\.server) }

  /// - Parameter runAgain: Runs a task again. Called on a queue of the page server's.
  init(_ session: Session, runAgain: @escaping @Sendable (_ task: String) -> Void) {
    (console, directory, self.runAgain) = (session.console, session.directory, runAgain)
    browser = session.settings.opensBrowser ? BrowserLauncher(session.console) : nil
    let editor = EditorLauncher(session.settings.editor, console: session.console)
    let server = PageServer(directory: directory) { host in
      "to allow it, pass --host \(host)"
    } report: { [self] in
      report($0)
    } openEditor: {
      editor.open($0, line: $1, column: $2)
    }
    state.withLock { $0.server = server }
  }

  /// Opens, closes and replaces pages until exactly these are open.
  ///
  /// - Parameter opensBrowsers: Whether they are the first ones, of which each is needed.
  /// - Returns: The problems of those that cannot be opened. The next call tries again.
  func open(_ pages: [Page], opensBrowsers: Bool = false) -> [String] {
    let old = state.withLock { state in
      defer { state.pages.removeAll { !pages.contains($0) } }
      return state.pages
    }
    // One at the same addresses is replaced, and knows what has failed.
    for page in old where !pages.contains(where: page.isAtAddresses) {
      server?.close(page: page.name)
    }
    var problems: [String] = []
    for page in pages where !old.contains(page) {
      state.withLock { state in
        state.pages.append(page)
        if opensBrowsers { state.unopened.insert(page.name) }
      }
      do throws(PageError) {
        try server?.open(page)
      } catch {
        state.withLock { $0.pages.removeAll { $0 == page } }
        problems.append(error.text)
        if opensBrowsers { break }
      }
    }
    return problems
  }

  /// Reloads all pages, whatever has changed. Returns false if there is none.
  func reload() -> Bool {
    let (server, pages) = state.withLock { ($0.server, $0.pages) }
    for page in pages { server?.reload(page: page.name) }
    return !pages.isEmpty
  }

  /// Takes over what is known of the tasks, before the first page is opened.
  func takeOver(_ status: StatusModel) { server?.takeOver(status) }

  func setPlan(_ plan: SessionPlan) {
    let tasks = plan.namesTasks ? plan.tasks.map(\.name) : []
    let labels = TaskLabel.labels(tasks + plan.pages.map(\.name))
    state.withLock { $0.labels = labels }
    server?.note(plan.activity)
  }

  func handle(_ activities: [Activity]) {
    for activity in activities { server?.note(activity) }
  }

  func handle(_ output: TaskOutput) {
    if let activity = Activity(output) { server?.note(activity) }
  }

  /// Forwards a batch. The runner must have received it before, so that the round that it causes has begun.
  func changed(_ batch: ChangeBatch) {
    changed(batch.changes.flatMap { [$0.path] + ($0.from.map { [$0] } ?? []) })
  }

  func changed(_ paths: [Path]) {
    if !paths.isEmpty { server?.note(.changed(paths)) }
  }
}

// MARK: - Reports of pages

extension PageHost {
  /// Called by the page server, on its queue.
  private func report(_ report: PageServer.Report) {
    switch report {
    case .serving(let name, let urls):
      reportServing(name, urls)
    case .warning(let warning):
      console.warn(warning.text(in: directory))
    case .runRequested(let task):
      runAgain(task)
    case .consoleMessage(let name, let message):
      show(message, of: name)
    }
  }

  private func show(_ message: ConsoleMessage, of name: String) {
    // A page that the project file no longer has may report until it is closed.
    guard let label = state.withLock({ $0.labels[name] }) else { return }
    var lines = message.lines
    lines[0] = "\(message.level.rawValue): \(lines[0])"
    switch message.level {
    case .error: console.say(.problem, ofPage: label, lines, style: .bad)
    case .warning: console.say(.news, ofPage: label, lines, style: .warning)
    }
  }

  private func reportServing(_ name: String, _ urls: [String]) {
    guard let url = urls.first else { return }
    let (page, opens) = state.withLock { state in
      (state.pages.first { $0.name == name }, state.unopened.remove(name) != nil)
    }
    let source = page.map(shown) ?? name
    console.say(.news, "serving \(source) at \(url.printable)", style: .good)
    if let page, page.isReachableFromOutside {
      let others = urls.count > 1 ? urls.dropFirst() : urls[...]
      console.warn(
        "other computers can reach \(source): \(others.map(\.printable).joined(separator: " "))"
          + "; unless you trust the network, pass no --host")
      warnOfUnknownNames(page.hosts)
      if urls.count > 1, let code = QRCode(urls[1]) {
        console.draw(code.lines, columns: code.width)
      }
    }
    if opens { browser?.open(url) }
  }

  /// Warns of names that lead nowhere. To look them up may take long.
  private func warnOfUnknownNames(_ hosts: [String]) {
    DispatchQueue.separate().async { [console] in
      for host in hosts where addressesToTry(of: host).isEmpty {
        console.warn(
          "no address is known for \(host.printable), so other computers may not find it either; "
            + "check the name, or write 0.0.0.0 for all addresses of this one")
      }
    }
  }

  /// The source and the rules of a page as a user writes them.
  private func shown(_ page: Page) -> String {
    let rest =
      switch page.source {
      case .directory(let path): path.shown(in: directory).description
      case .upstream(let address): address.description
      }
    return ([rest] + page.proxies.map { "\($0.path.printable)=\($0.server)" })
      .joined(separator: " and ")
  }
}

extension Page {
  /// Whether another page of this name has its port and hosts.
  fileprivate func isAtAddresses(of other: Page) -> Bool {
    (name, port, hosts) == (other.name, other.port, other.hosts)
  }
}
