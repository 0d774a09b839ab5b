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
    /// The user of the overlay has clicked on a source location, to open it in the editor.
    case editorRequested(Path, line: Int, column: Int?)
    /// A page with ``Page/reportsConsole`` has written an error or a warning to its console in a
    /// browser, or a script of it has failed.
    case consoleMessage(page: String, ConsoleMessage)
  }

  private let queue = DispatchQueue(label: "watchrun.pages", qos: .userInitiated)
  private let core: Confined<ServerCore?>
  private let pending = Mutex(PendingActivities())
  /// How long output is collected before pages process it.
  private static let outputPause = DispatchTimeInterval.milliseconds(50)

  /// Creates a server without pages.
  ///
  /// - Parameters:
  ///   - directory: The directory in which the tasks run. Relative paths in their output are
  ///     relative to it.
  ///   - report: Called with every report, in order, on a serial queue of the server's.
  public init(directory: Path, report: @escaping @Sendable (Report) -> Void) {
    core = Confined(nil, to: queue)
    queue.sync {
      guard let loop = try? SocketLoop(queue: queue) else { return }
      let made = ServerCore(
        directory: directory, loop: loop,
        mostConnections: ConnectionLimit.connections(forOpenFiles: openFileLimit()), report: report)
      core.access { $0 = made }
    }
  }

  /// Serves a page, replacing one of the same name. Returns when the server listens.
  ///
  /// - Throws: ``PageError`` if the server cannot listen. A page of the same name is then closed.
  public func open(_ page: Page) throws(PageError) {
    let result: Result<Void, PageError> = queue.sync {
      core.access { core in
        guard let core else {
          return .failure(.descriptorLimitReached(page.name))
        }
        do throws(PageError) {
          return .success(try core.open(page))
        } catch {
          return .failure(error)
        }
      }
    }
    try result.get()
  }

  /// Stops serving a page.
  public func close(page name: String) {
    queue.async { [self] in core.access { $0?.close(name) } }
  }

  /// Processes an event of the tasks.
  public func note(_ activity: Activity) {
    switch pending.withLock({ $0.add(activity) }) {
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
