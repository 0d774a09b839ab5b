import ActionRunning
import FileObservation
import SystemCalls
import WatchrunSettings

// What sessions and observers are made of, from the settings of the command line.
extension Settings {
  func makeFilter(in directory: Path) -> PathFilter {
    PathFilter(
      base: directory, ignore: self.ignores, filter: self.filters, extensionBytes: self.extensions,
      sources: ignoreSources, environment: processEnvironmentText())
  }

  func absoluteWatched(in directory: Path) -> [WatchedPath] {
    effectiveWatched.map { path in
      WatchedPath(path.path.absolute(from: directory), isRecursive: path.isRecursive)
    }
  }

  /// Patterns for the file of `--diagnostics`, by each of its paths, and the one through which it is replaced.
  func diagnosticsPatterns(in directory: Path) -> [GlobPattern?] {
    guard let file = diagnosticsFile?.absolute(from: directory) else { return [] }
    return file.names.flatMap { path -> [GlobPattern?] in
      [
        GlobPattern(only: path),
        path.parent.flatMap { GlobPattern(only: $0, entries: DiagnosticsFile.temporaryNames) },
      ]
    }
  }

  /// `nil` if standard input is not a terminal.
  func makeTerminalController(_ guardian: Guardian?) -> TerminalController? {
    guard printMode == nil, Terminal.isTerminal(STDIN_FILENO) else { return nil }
    // After a single run, the shell must receive the typed input.
    let listens = readsKeys && !endsAfterFirstRun
    return TerminalController(
      Terminal(STDIN_FILENO), readsKeys: listens,
      lends: self.isInteractive || listens || isForProject,
      guardian: guardian)
  }
}

extension Path {
  /// The paths under which an absolute path may be watched, relative to the root directory.
  var names: [Path] {
    let target = try? resolvedPath(self)
    let parent = parent.flatMap { try? resolvedPath($0) }
    let paths = [self, target, parent?.appending(lastComponent)].compactMap(\.self)
    return Set(paths).compactMap { $0.relative(to: "/") }
  }
}
