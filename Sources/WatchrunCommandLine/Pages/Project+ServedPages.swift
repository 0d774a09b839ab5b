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
      let ancestors = (try? TaskGraph.names(neededBy: page.after, in: nodes)) ?? []
      var watched = page.observed
      if !page.proxies.isEmpty {
        // The answers of a server depend on the files that its tasks watch.
        watched += tasks.filter { ancestors.contains($0.name) }.flatMap(\.watched)
      }
      var known: Set<Path> = []
      var served = LiveReload.Page(
        name: page.name, source: page.source(in: directory), port: page.port,
        hosts: page.hosts, dependencies: ancestors,
        watched: watched.map { $0.absolute(from: directory) }.filter { known.insert($0).inserted },
        fallback: page.fallback)
      served.proxies = page.rules.filter { !$0.matchesAll }
      served.headers = page.headers
      served.showsOverlay = page.showsOverlay
      served.listsDirectories = page.listsDirectories
      served.reportsConsole = page.reportsConsole ?? reportsConsoles
      served.servesDotFiles = page.servesDotFiles
      return served
    }
  }
}

extension Project.Page {
  /// The paths that are observed for the page and not for a task.
  var observed: [Path] { reload + (served.map { [$0] } ?? []) }

  /// The proxies, which the project reader has validated.
  fileprivate var rules: [ProxyRule] { proxies.compactMap(\.rule) }

  fileprivate func source(in directory: Path) -> LiveReload.Page.Source {
    if let served { return .directory(served.absolute(from: directory)) }
    return .upstream(rules.first(where: \.matchesAll)?.server ?? ServerAddress(port: 80))
  }
}

extension Project.Page.Proxy {
  /// The rule; `nil` for a URL with a query.
  var rule: ProxyRule? {
    let address: ServerAddress? =
      switch server {
      case .port(let port): ServerAddress(port: port)
      case .url(let url): ServerAddress(url: url)
      }
    return address.flatMap { ProxyRule(path: path, server: $0) }
  }
}
