import SystemCalls

/// The ignore rules that hold for the entries of one folder, from the weakest to the strongest.
///
/// | from weak to strong | patterns are relative to |
/// |---|---|
/// | the built-in list | any folder |
/// | `core.excludesFile`, by default `git/ignore` in `$XDG_CONFIG_HOME` or `~/.config` | the repository's root |
/// | `watchrun/ignore` there | the repository's root |
/// | `.git/info/exclude` | the repository's root |
/// | for each folder from the repository's root down: its `.gitignore`, `.ignore`, `.watchrunignore` | that folder |
///
/// The strongest rule that matches an entry decides. Inside one file, that is the last. What is
/// below an ignored folder is ignored with it: a stack is only ever asked about the entries of
/// folders that are not ignored, and nothing brings back what it is not asked about.
///
/// The repository begins in the nearest folder upwards that holds `.git`. Where a repository lies
/// within another one, git's files above it do not reach into it, while those of the project do.
/// Where there is no repository, the current folder takes the place of its root, or the watched
/// folder if that is elsewhere.
///
/// A stack is one reference. It never changes: a folder with ignore files of its own has a stack of
/// its own, all others share the one of the folder above.
public struct IgnoreStack: Sendable {
  private let storage: Storage

  private final class Storage: Sendable {
    let layers: [IgnoreLayer]
    let context: IgnoreContext

    init(layers: [IgnoreLayer], context: IgnoreContext) {
      self.layers = layers
      self.context = context
    }
  }

  private init(layers: [IgnoreLayer], context: IgnoreContext) {
    storage = Storage(layers: layers, context: context)
  }

  /// The stack for a folder that is about to be watched: reads the ignore files from the
  /// repository's root down to it.
  ///
  /// - Parameters:
  ///   - root: The folder. A relative path begins at `currentFolder`.
  ///   - currentFolder: Where the user stands; an absolute path.
  ///   - sources: The kinds of rules to use.
  ///   - environment: Where the user's settings are looked up: `HOME`, `XDG_CONFIG_HOME`,
  ///     `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM`, `GIT_CONFIG_NOSYSTEM`.
  ///   - warn: Is told of each file that is there and cannot be read. The stack does without it.
  public init(
    root: Path, currentFolder: Path, sources: IgnoreSources = .all,
    environment: [String: String], warn: (SystemError) -> Void = { _ in }
  ) {
    let root = root.absolute(from: currentFolder)
    let repository = GitRepository.enclosing(root)
    let top = repository?.root ?? (root.isWithin(currentFolder) ? currentFolder : root)
    let context = IgnoreContext(
      root: root, top: top, sources: sources, environment: environment, repository: repository,
      warn: warn)
    var layers = IgnoreLayer.general(for: top, in: context, warn: warn)
    var folder = top
    layers += IgnoreLayer.own(of: folder, in: context, warn: warn)
    for name in root.relative(to: top)?.components ?? [] where !name.elementsEqual(".".utf8) {
      folder = folder.appending(name)
      layers += IgnoreLayer.own(of: folder, in: context, warn: warn)
    }
    self.init(layers: layers, context: context)
  }

  /// The stack for a subfolder: this one, if none of the files that matter were seen in it.
  ///
  /// - Parameters:
  ///   - folder: The subfolder's absolute path.
  ///   - seen: Which names its listing held.
  ///   - warn: Is told of each file that is there and cannot be read.
  public func entering(
    _ folder: Path, seen: IgnoreFileNames, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    var context = storage.context
    if seen.isDisjoint(with: context.sources.fileNames) { return self }
    var layers = storage.layers
    if seen.contains(.git), context.sources.contains(.versionControl) {
      context.enter(GitRepository(root: folder), warn: warn)
      layers =
        IgnoreLayer.general(for: folder, in: context, warn: warn)
        + layers.filter { $0.scope == .project }
    }
    layers += IgnoreLayer.own(of: folder, seen: seen, in: context, warn: warn)
    return IgnoreStack(layers: layers, context: context)
  }

  /// The ignore files in force, from the weakest to the strongest.
  public var files: [IgnoreFile] {
    storage.layers.compactMap { layer in
      layer.path.map { IgnoreFile(path: $0, list: layer.list) }
    }
  }

  /// The files outside of the watched folder, or hidden in its repository, that bear on it, or
  /// would if they were there.
  package var outerFiles: [Path] { storage.context.outerFiles }

  /// True if both are the same stack, and not just equal ones.
  package func isSame(as other: IgnoreStack) -> Bool {
    storage === other.storage
  }

  /// Where, in the path of anything below the watched folder, the part below it begins.
  var rootOffset: Int { storage.context.root.offsetBelow }
}

// MARK: - Asking

extension IgnoreStack {
  /// A rule of a stack, by its place.
  struct Match {
    let layer: Int
    let index: Int
    /// True if what matches is ignored, and not brought back.
    let ignores: Bool
  }

  /// The strongest rule that matches an entry of the folder; nil if none does. Allocates nothing.
  ///
  /// - Parameters:
  ///   - path: The entry's absolute path.
  ///   - name: Where its name begins.
  ///   - isDirectory: True for a folder. A link to one is none.
  func match(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Match? {
    storage.layers.withUnsafeBufferPointer { layers in
      for layer in layers.indices.reversed() {
        let found = layers[layer].list.lastIndex(
          matching: path, base: layers[layer].base, nameAt: name, isDirectory: isDirectory)
        if let found {
          let ignores = !layers[layer].list.patterns[found].isNegated
          return Match(layer: layer, index: found, ignores: ignores)
        }
      }
      return nil
    }
  }

  /// True if an entry of the folder is ignored, false if a rule brings it back, nil if no rule
  /// matches it. See ``IgnoreStack`` for how rules relate to each other.
  ///
  /// - Parameters:
  ///   - path: The entry's absolute path.
  ///   - isDirectory: True for a folder. A link to one is none.
  public func ignores(_ path: Path, isDirectory: Bool) -> Bool? {
    path.bytes.withUnsafeBufferPointer {
      match($0, nameAt: path.lastComponent.startIndex, isDirectory: isDirectory)?.ignores
    }
  }

  /// The rule at that place, for showing.
  func rule(at match: Match) -> FilterDecision.Rule {
    let layer = storage.layers[match.layer]
    return layer.list.rule(at: match.index, source: layer.source)
  }
}

extension PatternList {
  /// The pattern at that place as a rule, for showing.
  func rule(at index: Int, source: FilterDecision.Source) -> FilterDecision.Rule {
    FilterDecision.Rule(source: source, line: numbers[index], pattern: patterns[index].text)
  }
}
