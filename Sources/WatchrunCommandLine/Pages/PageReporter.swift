import Dispatch
import LiveReload
import Support
import Synchronization
import SystemCalls

/// Does what pages report: prints their URLs and messages, opens browsers, and runs tasks again.
final class PageReporter: Sendable {
  private struct State {
    var pages: [String: Page] = [:]
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

  init(_ session: Session, _ runAgain: @escaping @Sendable (_ task: String) -> Void) {
    self.runAgain = runAgain
    console = session.console
    directory = session.directory
    browser = session.settings.opensBrowser ? BrowserLauncher(session.console) : nil
  }

  func setPlan(_ plan: SessionPlan) {
    let tasks = plan.namesTasks ? plan.tasks.map(\.name) : []
    let labels = TaskLabel.labels(tasks + plan.pages.map(\.name))
    state.withLock { $0.labels = labels }
  }

  /// Must be called before a page is opened.
  func expect(_ page: Page, opensBrowser: Bool) {
    state.withLock { state in
      state.pages[page.name] = page
      if opensBrowser { state.unopened.insert(page.name) }
    }
  }

  /// Called by the page server, on its queue.
  func report(_ report: PageServer.Report) {
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
      (state.pages[name], state.unopened.remove(name) != nil)
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
