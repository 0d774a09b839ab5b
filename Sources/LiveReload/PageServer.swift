import Dispatch
import Support
import SystemCalls

/// Serves pages, and reloads them when something has changed that they show.
///
/// All methods may be called from any thread. Reports come in order, on a queue of the server's.
public final class PageServer: Sendable {
  /// What a server has to report.
  public enum Report: Sendable {
    /// A page is served at these addresses, the first of which is on this machine.
    case serving(page: String, urls: [String])
    /// Something that a page cannot do, once.
    case warning(String)
    /// A reader of the overlay wants to see this place in the editor.
    case editorRequested(Path, line: Int, column: Int?)
  }

  private let queue = DispatchQueue(label: "watchrun.pages", qos: .userInitiated)
  private let core: Confined<ServerCore?>

  /// A server without a page.
  ///
  /// - Parameters:
  ///   - directory: Where the tasks are run: what relative names of files in their output begin at.
  ///   - report: Called on the server's queue with every report.
  public init(directory: Path, report: @escaping @Sendable (Report) -> Void) {
    core = Confined(nil, to: queue)
    queue.sync {
      guard let loop = try? SocketLoop(queue: queue) else { return }
      let made = ServerCore(directory: directory, loop: loop, report: report)
      core.access { $0 = made }
    }
  }

  /// Serves a page, in place of one of the same name. Returns when it is served.
  public func open(_ page: Page) throws(PageError) {
    let result: Result<Void, PageError> = queue.sync {
      core.access { core in
        guard let core else {
          return .failure(PageError("cannot serve \(page.name): no more files can be opened"))
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

  /// Serves a page no longer.
  public func close(page name: String) {
    queue.async { [self] in core.access { $0?.close(name) } }
  }

  /// Takes note of what happens to the tasks.
  public func note(_ activity: Activity) {
    queue.async { [self] in core.access { $0?.note(activity) } }
  }

  /// Serves nothing any more, and closes all connections.
  public func stop() {
    queue.async { [self] in
      core.access { core in
        core?.stop()
        core = nil
      }
    }
  }
}
