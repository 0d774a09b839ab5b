import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

// Converts the pages of a project file to those of the page server.

extension Project {
  /// The pages as the page server takes them, relative to a directory.
  ///
  /// - Parameter reportsConsoles: Whether they report their consoles unless a key says otherwise.
  func servedPages(in directory: Path, reportsConsoles: Bool) -> [LiveReload.Page] {
    pages.map { page in
      let ancestors = ancestors(of: page)
      var watched = page.reload
      switch page.source {
      case .directory(let directory): watched.append(directory)
      case .port, .url:
        // The answers of a server depend on the files that its tasks watch.
        watched += tasks.filter { ancestors.contains($0.name) }.flatMap(\.watched)
      }
      var known: Set<Path> = []
      var served = LiveReload.Page(
        name: page.name, source: page.servedSource(in: directory), port: page.port,
        hosts: page.hosts, dependencies: ancestors,
        watched: watched.map { $0.absolute(from: directory) }.filter { known.insert($0).inserted },
        fallback: page.fallback)
      served.showsOverlay = page.showsOverlay
      served.listsDirectories = page.listsDirectories
      served.reportsConsole = page.reportsConsole ?? reportsConsoles
      served.servesDotFiles = page.servesDotFiles
      return served
    }
  }

  /// The names of all direct and indirect dependencies of a page.
  private func ancestors(of page: Page) -> Set<String> {
    var known = Set(page.after)
    var rest = page.after
    while let name = rest.popLast() {
      for dependency in tasks.first(where: { $0.name == name })?.after ?? []
      where known.insert(dependency).inserted {
        rest.append(dependency)
      }
    }
    return known
  }
}

extension Project.Page {
  /// The paths that are observed for the page and not for a task.
  var observed: [Path] {
    if case .directory(let directory) = source { return reload + [directory] }
    return reload
  }

  fileprivate func servedSource(in directory: Path) -> LiveReload.Page.Source {
    switch source {
    case .directory(let served): return .directory(served.absolute(from: directory))
    case .port(let port): return .upstream(ServerAddress(port: port))
    case .url(let url):
      // The project reader has validated it.
      return .upstream(ServerAddress(url: url) ?? ServerAddress(port: 80))
    }
  }
}
