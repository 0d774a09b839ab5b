import SystemCalls

/// The properties that the layers of a stack share.
struct IgnoreContext: Sendable {
  /// The watched directory.
  let root: Path
  /// The directory to which displayed paths of ignore files are relative: the root of the outermost
  /// repository.
  let top: Path
  let sources: IgnoreSources
  /// The repository whose rules apply.
  private(set) var repository: GitRepository?
  /// The settings of the repository.
  private(set) var configuration: GitConfiguration
  private let userConfiguration: GitConfiguration

  init(
    root: Path, top: Path, sources: IgnoreSources, environment: [String: String],
    repository: GitRepository?, warn: (SystemError) -> Void
  ) {
    self.root = root
    self.top = top
    self.sources = sources
    userConfiguration = GitConfiguration(environment: environment, warn: warn)
    configuration = userConfiguration
    if let repository { enter(repository, warn: warn) }
  }

  /// Enters a nested repository.
  mutating func enter(_ repository: GitRepository, warn: (SystemError) -> Void) {
    self.repository = repository
    configuration = userConfiguration.adding(repository, warn: warn)
  }
}

extension IgnoreContext {
  /// See ``IgnoreStack/outerFiles``.
  var outerFiles: [Path] {
    var files: [Path] = []
    var directory = root
    while directory != top, let parent = directory.parent {
      directory = parent
      // Outside of repositories, the creation of such a file is too unlikely to be watched for.
      let names = repository == nil ? IgnoreFileNames.present(in: directory) : .all
      files += names.intersection(sources.fileNames).subtracting(.markers).texts.map {
        directory.appending($0)
      }
    }
    return files + generalFiles.map { $0.file.absolute(from: repository?.root ?? top) }
  }

  /// The files that apply everywhere below the repository's root, from the weakest on, and how they are shown. A
  /// relative path is relative to that root.
  var generalFiles: [(file: Path, shown: Path)] {
    var files: [(file: Path, shown: Path)] = []
    if sources.contains(.global) {
      let ofGit = sources.contains(.versionControl) ? configuration.excludesFile : nil
      let own = configuration.userDirectory?.appending("watchrun/ignore")
      files += [ofGit, own].compactMap(\.self).map { ($0, $0) }
    }
    if sources.contains(.versionControl), let repository {
      let file = repository.commonDirectory.appending("info/exclude")
      files.append((file, file.shown(in: top)))
    }
    return files
  }
}

extension IgnoreSources {
  /// The names in a directory that matter to these kinds of rules.
  var fileNames: IgnoreFileNames {
    var names: IgnoreFileNames = []
    if contains(.versionControl) { names.formUnion([.git, .gitignore]) }
    if contains(.project) { names.formUnion([.ignore, .watchrunignore]) }
    if contains(.defaults) { names.formUnion(.builtInMarkers) }
    return names
  }
}
