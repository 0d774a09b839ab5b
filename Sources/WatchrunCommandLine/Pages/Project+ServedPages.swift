import ActionRunning
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts pages to those of the page server.

extension Project {
  /// The pages, relative to a directory.
  ///
  /// - Parameter reportsConsoles: Whether they report their consoles unless a key says otherwise.
  func servedPages(in directory: Path, reportsConsoles: Bool) -> [LiveReload.Page] {
    pages.map { page in
      let ancestors = (try? TaskGraph.names(neededBy: page.after, in: nodes)) ?? []
      var watched = page.observed
      if !page.proxies.isEmpty {
        // The answers of a server depend on the files that its tasks watch.
        watched += tasks.filter { ancestors.contains($0.name) }.flatMap(\.watched)
      }
      return page.made(
        in: directory, watching: watched, after: ancestors, reportsConsole: reportsConsoles)
    }
  }
}

extension Project.Page {
  /// The page as the page server takes it.
  ///
  /// - Parameters:
  ///   - watched: The paths whose changes reload it.
  ///   - dependencies: The tasks that must succeed before it reloads.
  func made(
    in directory: Path, watching watched: [Path], after dependencies: Set<String>,
    reportsConsole: Bool
  ) -> LiveReload.Page {
    var known: Set<Path> = []
    let source =
      served.map { LiveReload.Page.Source.directory($0.absolute(from: directory)) }
      ?? .upstream(upstream ?? ServerAddress(port: 80))
    var page = LiveReload.Page(
      name: name, source: source, port: port, hosts: hosts, dependencies: dependencies,
      watched: watched.map { $0.absolute(from: directory) }.filter { known.insert($0).inserted },
      fallback: fallback)
    page.proxies = rules.filter { !$0.matchesAll }
    page.headers = headers
    page.showsOverlay = showsOverlay
    page.listsDirectories = listsDirectories
    page.reportsConsole = self.reportsConsole ?? reportsConsole
    page.servesDotFiles = servesDotFiles
    return page
  }

  /// The paths that are observed for the page and not for a task.
  var observed: [Path] { reload + (served.map { [$0] } ?? []) }
}
