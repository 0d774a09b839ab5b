import ActionRunning
import FileObservation
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts the options of the command line to its page and to the paths that must be observed for it.

extension Settings {
  /// The page that the command line asks for; `nil` if it asks for none.
  func servedPage(
    in directory: Path, dependencies: Set<String> = []
  ) throws(Failure) -> LiveReload.Page? {
    guard hasPage else { return nil }
    try checkServedDirectory(in: directory)
    // The answers of a server depend on the files that its command watches.
    let isServer = !page.proxies.isEmpty && !(isForPageAlone && page.served != nil)
    let others = isServer ? effectiveWatched : isForPageAlone ? watched : []
    var made = page.made(
      in: directory, watching: page.observed + others.map(\.path), after: dependencies,
      reportsConsole: Console.showsPageConsoles)
    made.followsLinks = followsLinks
    return made
  }

  /// A command may make the directory later; without one, a missing directory is a mistake.
  private func checkServedDirectory(in directory: Path) throws(Failure) {
    guard let path = page.served else { return }
    let reason: String
    do throws(SystemError) {
      let status = try FileStatus(of: path.absolute(from: directory), followsLinks: true)
      if status.type == .directory { return }
      reason = "it is not a directory"
    } catch {
      if error.code == ENOENT && !isForPageAlone { return }
      reason = error.reason
    }
    throw .launch(
      "cannot serve \(path): \(reason); pass an existing directory to --serve", ExitCode.noInput)
  }

  /// The paths that are observed for the command and for the page.
  var watchedWithPage: [WatchedPath] {
    guard let served = page.served else { return effectiveWatched }
    let page = [WatchedPath(served, mayBeMissing: !isForPageAlone)]
    return isForPageAlone ? page + watched : effectiveWatched + page
  }

  /// The changes that start the command. The observer reports others, for the page.
  func commandTriggers(in directory: Path) -> TaskTriggers {
    let own = absoluteWatched(in: directory)
    let roots = watchedWithPage.map { $0.path.absolute(from: directory) }
    let foreign = makeFilter(in: directory)
      .patterns(ignoring: roots, whereNotIn: own.map(\.path), in: directory)
    return TaskTriggers(
      watched: own, filter: self.own.filter(in: directory, ignoring: foreign), kinds: effectiveKinds
    )
  }
}

extension PathFilter {
  /// Patterns that ignore those roots which are below one of a task's own and ignored there. They are observed
  /// for other tasks or pages.
  func patterns(
    ignoring roots: [Path], whereNotIn own: [Path], in directory: Path
  ) -> [GlobPattern] {
    roots.compactMap { root in
      guard !own.contains(root), let above = own.first(where: { root.isWithin($0) }),
        !decision(for: root, isDirectory: true, below: above).isIncluded,
        let relative = root.relative(to: directory)
      else { return nil }
      return GlobPattern(only: relative)
    }
  }
}

// Converts pages to those of the page server.

extension Project {
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
  /// - Parameter dependencies: The tasks that must succeed before it reloads.
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
