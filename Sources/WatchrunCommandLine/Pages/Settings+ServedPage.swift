import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import SystemCalls

// Converts the options of the command line to its page and to the paths that must be observed for it.

extension Settings {
  /// The page that the command line asks for; `nil` if it asks for none.
  ///
  /// - Parameter dependencies: The tasks that must succeed before the page reloads.
  func page(in directory: Path, dependencies: Set<String> = []) throws(Failure) -> Page? {
    let source: Page.Source
    var watched: [Path] = []
    if let served {
      source = .directory(try directoryToServe(served, in: directory))
      watched = [served.absolute(from: directory)]
      // The answers of a server depend on the files that its command watches.
      let others = isForPageAlone ? self.watched : proxies.isEmpty ? [] : effectiveWatched
      watched += others.map { $0.path.absolute(from: directory) }
    } else if let upstream {
      source = .upstream(upstream)
      watched = effectiveWatched.map { $0.path.absolute(from: directory) }
    } else {
      return nil
    }
    var page = Page(
      name: "page", source: source, port: pagePort, hosts: pageHosts, dependencies: dependencies,
      watched: watched, fallback: pageFallback)
    page.proxies = proxies.filter { !$0.matchesAll }
    page.headers = pageHeaders
    page.listsDirectories = listsDirectories
    page.followsLinks = followsLinks
    page.reportsConsole = Console.showsPageConsoles
    return page
  }

  /// The absolute path of a directory. A command may make it later; without one, a missing directory is
  /// a mistake.
  private func directoryToServe(_ path: Path, in directory: Path) throws(Failure) -> Path {
    let absolute = path.absolute(from: directory)
    let reason: String
    do throws(SystemError) {
      if try FileStatus(of: absolute, followsLinks: true).type == .directory { return absolute }
      reason = "it is not a directory"
    } catch {
      if error.code == ENOENT && !isForPageAlone { return absolute }
      reason = error.reason
    }
    throw .launch(
      "cannot serve \(path): \(reason); pass an existing directory to --serve", ExitCode.noInput)
  }

  /// The paths that are observed for the command and for the page.
  var watchedWithPage: [WatchedPath] {
    guard let served else { return effectiveWatched }
    let page = [WatchedPath(served, mayBeMissing: !isForPageAlone)]
    return isForPageAlone ? page + watched : effectiveWatched + page
  }

  /// The changes that start the command. The observer reports others, for the page.
  func commandTriggers(in directory: Path) -> TaskTriggers {
    let own = effectiveWatched.map { path in
      WatchedPath(path.path.absolute(from: directory), isRecursive: path.isRecursive)
    }
    let roots = watchedWithPage.map { $0.path.absolute(from: directory) }
    let foreign = makeFilter(in: directory)
      .patterns(ignoring: roots, whereNotIn: own.map(\.path), in: directory)
    let filter = PathFilter(
      base: directory, ignore: foreign + self.ignores, filter: self.filters,
      extensionBytes: self.extensions,
      sources: [])
    return TaskTriggers(watched: own, filter: filter, kinds: effectiveKinds)
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
