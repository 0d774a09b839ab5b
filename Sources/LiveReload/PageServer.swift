import Dispatch
import Support
import Synchronization
import SystemCalls

/// A server of pages that reloads them in browsers after changes.
///
/// All methods may be called on any thread.
public final class PageServer: Sendable {
  /// A report of a server.
  public enum Report: Sendable {
    /// A page is served at these addresses, the first of which is the one for this machine.
    case serving(page: String, urls: [String])
    /// A limitation of a page. Each is reported once.
    case warning(Warning)
    /// The user of the status page asks for another run of a task.
    case runRequested(task: String)
    /// A page with ``Page/reportsConsole`` has written an error or a warning to its console in a
    /// browser, or a script of it has failed.
    case consoleMessage(page: String, ConsoleMessage)
  }

  /// Opens a file at a line in the user's editor. Returns why that cannot be done, and what to do about
  /// it; `nil` if it can. The page shows the answer.
  public typealias EditorOpener =
    @Sendable (_ file: Path, _ line: Int, _ column: Int?) -> String?

  private let queue = DispatchQueue(label: "watchrun.pages", qos: .userInitiated)
  private let core: Confined<ServerCore?>
  private let pending = Mutex(PendingActivities())
  /// How long output is collected before pages process it.
  private static let outputPause = DispatchTimeInterval.milliseconds(50)

  /// Creates a server without pages.
  ///
  /// - Parameters:
  ///   - directory: The directory from which relative paths in the output of tasks start; by default
  ///     the current directory.
  ///   - hostAdvice: How to allow a host that is not among those of a page. A browser that asks for it
  ///     shows the answer.
  ///   - report: Called with every report, in order, on a serial queue of the server's.
  ///   - openEditor: Called when the user clicks on a source location, on the same queue.
  public init(
    directory: Path? = nil,
    hostAdvice: @escaping @Sendable (_ host: String) -> String? = { _ in nil },
    report: @escaping @Sendable (Report) -> Void,
    openEditor: @escaping EditorOpener = { _, _, _ in "no editor is known" }
  ) {
    core = Confined(nil, to: queue)
    let directory = directory ?? (try? currentDirectory()) ?? "/"
    queue.wait {
      guard let network = try? KernelNetwork(queue: queue) else { return }
      let made = ServerCore(
        directory: directory, loop: SocketLoop(network, DispatchScheduler(queue: queue)),
        mostConnections: Self.connections(forOpenFiles: openFileLimit()),
        hostAdvice: hostAdvice, report: report, openEditor: openEditor)
      core.access { $0 = made }
    }
  }

  /// The most connections of clients that leave enough descriptors for watching and for commands. Each may need a
  /// second one, for a file or for the server behind the page.
  ///
  /// - Parameter files: The number of files that the process may have open.
  static func connections(forOpenFiles files: Int) -> Int {
    let reserve = max(64, min(files / 4, 256))
    return max(8, min((files - reserve) / 2, 4096))
  }

  /// Serves a page, replacing one of the same name. Returns when the server listens.
  ///
  /// - Throws: ``PageError`` if the server cannot listen. A page of the same name is then closed.
  public func open(_ page: Page) throws(PageError) {
    let result: Result<Void, PageError> = queue.wait {
      core.access { core in
        Result { () throws(PageError) in
          guard let core else { throw PageError.descriptorLimitReached(page.name) }
          try core.open(page)
        }
      }
    }
    try result.get()
  }

  /// Takes over what is known of the tasks, before the first page is opened.
  package func takeOver(_ status: StatusModel) {
    perform { $0.status = status }
  }

  /// Stops serving a page.
  public func close(page name: String) {
    perform { $0.close(name) }
  }

  /// Reloads a page in all browsers that show it, at once, and takes away the failure that
  /// ``showFailure(_:page:)`` shows. Tasks and watched files make no difference.
  public func reload(page name: String) {
    perform { $0.site(name)?.reload() }
  }

  /// Shows a failure in all browsers that show a page, also in those that open it later, until
  /// ``reload(page:)`` or the next failure. A page without ``Page/showsOverlay`` does not show it.
  public func showFailure(_ failure: PageFailure, page name: String) {
    perform { $0.site(name)?.show(failure) }
  }

  private func perform(_ work: @escaping @Sendable (ServerCore) -> Void) {
    queue.async { [self] in core.access { $0.map(work) } }
  }

  /// Processes an event of the tasks: at once one that a server is about to be asked to stop, whose connections are
  /// to be closed by this side first, and any other soon. The former must not come from the handlers that this server
  /// calls on its queue.
  public func note(_ activity: Activity) {
    let due = pending.withLock { $0.add(activity) }
    if case .stopping = activity { return queue.wait { processActivities() } }
    switch due {
    case .now: queue.async { [self] in processActivities() }
    case .later:
      queue.asyncAfter(deadline: .now() + Self.outputPause) { [self] in processActivities() }
    case nil: break
    }
  }

  private func processActivities() {
    let activities = pending.withLock { $0.take() }
    core.access { core in for activity in activities { core?.note(activity) } }
  }

  /// Stops serving, and closes all connections.
  public func stop() {
    queue.async { [self] in
      core.access { core in
        core?.stop()
        core = nil
      }
    }
  }
}
