import SystemCalls

/// The rules of one source in an ignore stack.
struct IgnoreLayer: Sendable {
  /// How far a layer reaches.
  enum Scope: Sendable {
    /// To the repository's end: where another repository begins, its own take their place.
    case repository
    /// On into repositories within this one.
    case project
  }

  let scope: Scope
  /// Whence it comes, as it is shown.
  let source: FilterDecision.Source
  /// Where it was read; nil for the built-in list.
  let path: Path?
  let list: PatternList
  /// Where, in the path of an entry, the part below the patterns' base folder begins.
  let base: Int
}

/// What the layers of a stack have in common.
struct IgnoreContext: Sendable {
  /// The watched folder.
  let root: Path
  /// The folder to which the paths of ignore files are relative when they are shown: the outermost
  /// repository's root.
  let top: Path
  let sources: IgnoreSources
  /// The repository whose rules hold.
  private(set) var repository: GitRepository?
  /// Its settings.
  private(set) var configuration: GitConfiguration
  private let userConfiguration: GitConfiguration
  fileprivate let folders: UserFolders

  init(
    root: Path, top: Path, sources: IgnoreSources, environment: [String: String],
    repository: GitRepository?, warn: (SystemError) -> Void
  ) {
    self.root = root
    self.top = top
    self.sources = sources
    self.repository = nil
    folders = UserFolders(environment: environment)
    userConfiguration = GitConfiguration(environment: environment, warn: warn)
    configuration = userConfiguration
    if let repository { enter(repository, warn: warn) }
  }

  /// Moves on to a repository that begins further down.
  mutating func enter(_ repository: GitRepository, warn: (SystemError) -> Void) {
    self.repository = repository
    configuration = userConfiguration.adding(
      repository.commonFolder.appending("config"), warn: warn)
  }
}

extension IgnoreContext {
  /// See ``IgnoreStack/outerFiles``.
  var outerFiles: [Path] {
    var files: [Path] = []
    var folder = root
    while folder != top, let parent = folder.parent {
      folder = parent
      // Outside of repositories nobody expects such a file to come to be.
      let names = repository == nil ? IgnoreFileNames.present(in: folder) : .all
      files += names.intersection(sources.fileNames).subtracting(.git).texts.map {
        folder.appending($0)
      }
    }
    if sources.contains(.versionControl), let repository {
      files.append(repository.commonFolder.appending("info/exclude"))
    }
    if sources.contains(.global) {
      if sources.contains(.versionControl), let file = configuration.excludesFile {
        files.append(file.absolute(from: top))
      }
      if let file = folders.configuration?.appending("watchrun/ignore") { files.append(file) }
    }
    return files
  }
}

extension IgnoreSources {
  /// The names in a folder that mean something if these are in use.
  var fileNames: IgnoreFileNames {
    var names: IgnoreFileNames = []
    if contains(.versionControl) { names.formUnion([.git, .gitignore]) }
    if contains(.project) { names.formUnion([.ignore, .watchrunignore]) }
    return names
  }
}

// MARK: - Reading

extension IgnoreLayer {
  /// What holds everywhere below `base`, where the repository begins, from the weakest on: the
  /// built-in list, the user's files, and the repository's `info/exclude`.
  static func general(
    for base: Path, in context: IgnoreContext, warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    var layers: [IgnoreLayer] = []
    if context.sources.contains(.defaults) {
      layers.append(
        IgnoreLayer(
          scope: .repository, source: .builtIn, path: nil, list: DefaultIgnores.list,
          base: base.offsetBelow))
    }
    func append(_ file: Path?, shownAs name: Path? = nil) {
      guard let file = file?.absolute(from: base) else { return }
      layers += read(
        file, shownAs: name ?? file, scope: .repository, base: base, in: context, warn: warn)
    }
    if context.sources.contains(.global) {
      if context.sources.contains(.versionControl) {
        let file = context.configuration.excludesFile
        append(file, shownAs: file)
      }
      append(context.folders.configuration?.appending("watchrun/ignore"))
    }
    if context.sources.contains(.versionControl), let repository = context.repository {
      let file = repository.commonFolder.appending("info/exclude")
      append(file, shownAs: file.shown(in: context))
    }
    return layers
  }

  /// The ignore files that lie in `folder` itself, from the weakest on. Only those in `seen` are
  /// looked for.
  static func own(
    of folder: Path, seen: IgnoreFileNames = .all, in context: IgnoreContext,
    warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    let names = seen.intersection(context.sources.fileNames)
    var layers: [IgnoreLayer] = []
    func append(_ file: IgnoreFileNames, _ name: String, _ scope: Scope) {
      guard names.contains(file) else { return }
      let path = folder.appending(name)
      layers += read(
        path, shownAs: path.shown(in: context), scope: scope, base: folder, in: context,
        warn: warn)
    }
    append(.gitignore, ".gitignore", .repository)
    append(.ignore, ".ignore", .project)
    append(.watchrunignore, ".watchrunignore", .project)
    return layers
  }

  /// One file as a layer; none if there is no such file, or it cannot be read.
  private static func read(
    _ path: Path, shownAs name: Path, scope: Scope, base: Path, in context: IgnoreContext,
    warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    do {
      // Git does not follow a link in place of `.gitignore`: it could lead out of the repository.
      let isGitignore = path.lastComponent.elementsEqual(".gitignore".utf8)
      guard let contents = try fileContents(of: path, followsLinks: !isGitignore) else {
        return []
      }
      let file = IgnoreFile(
        path: path, contents: contents, ignoringCase: context.configuration.ignoresCase)
      return [
        IgnoreLayer(
          scope: scope, source: .file(name), path: path, list: file.list, base: base.offsetBelow)
      ]
    } catch {
      warn(error)
      return []
    }
  }
}

extension Path {
  /// Where, in the path of anything below this folder, the part below it begins.
  var offsetBelow: Int {
    bytes.last == Byte.slash ? bytes.count : bytes.count + 1
  }

  /// As git shows it: relative to the repository's root, if it lies there.
  fileprivate func shown(in context: IgnoreContext) -> Path {
    relative(to: context.top) ?? self
  }
}
