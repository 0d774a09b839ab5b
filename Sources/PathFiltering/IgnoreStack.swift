import SystemCalls

/// The ignore rules that apply to the entries of one directory.
///
/// ```swift
/// let stack = IgnoreStack(root: "/project", currentDirectory: "/project", environment: [:])
/// stack.ignores("/project/build.log", isDirectory: false)
/// ```
///
/// | rules, from the weakest to the strongest | patterns are relative to |
/// |---|---|
/// | the built-in list, and rules beside files of tools (`target/` beside `Cargo.toml`) | any directory |
/// | `core.excludesFile`, by default `git/ignore` in `$XDG_CONFIG_HOME` or `~/.config` | the repository's root |
/// | `watchrun/ignore` there | the repository's root |
/// | `.git/info/exclude` | the repository's root |
/// | for each directory from the repository's root down: its `.gitignore`, `.ignore`, `.watchrunignore` | that directory |
///
/// The strongest rule that matches an entry decides; within one file, that is the last one. The
/// descendants of an ignored directory are ignored with it, and no rule can include them: use a
/// stack only for the entries of a directory that is not ignored.
///
/// The repository's root is the nearest ancestor with an entry `.git`. In a repository within
/// another one, git's rules of the outer one do not apply, but those of the project do. Outside of
/// repositories, the current directory takes the place of the root, or the watched directory if
/// that is not below it.
///
/// A stack is one immutable reference. A directory without ignore files shares that of its parent.
public struct IgnoreStack: Sendable {
  private let storage: Storage

  private final class Storage: Sendable {
    let layers: [IgnoreLayer]
    let context: IgnoreContext
    let directory: Path?

    init(layers: [IgnoreLayer], context: IgnoreContext, _ directory: Path?) {
      self.layers = layers
      self.context = context
      self.directory = directory
    }
  }

  private init(layers: [IgnoreLayer], context: IgnoreContext, of directory: Path? = nil) {
    storage = Storage(layers: layers, context: context, directory)
  }

  /// The directory whose files were read last, unless it is the one to watch.
  package var directory: Path? { storage.directory }

  /// Creates the stack of a directory to watch. Reads the ignore files from the repository's root
  /// down to it.
  ///
  /// - Parameters:
  ///   - root: The directory. A relative path is relative to `currentDirectory`.
  ///   - currentDirectory: The user's current directory; an absolute path.
  ///   - sources: The kinds of rules to apply.
  ///   - environment: The environment variables by which the user's settings are found: `HOME`,
  ///     `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM`, `GIT_CONFIG_NOSYSTEM`.
  ///   - warn: Called with the error for each file that exists and cannot be read. Its rules are
  ///     not applied.
  public init(
    root: Path, currentDirectory: Path, sources: IgnoreSources = .all,
    environment: [String: String], warn: (SystemError) -> Void = { _ in }
  ) {
    let root = root.absolute(from: currentDirectory)
    let repository = GitRepository.enclosing(root)
    let top = repository?.root ?? (root.isWithin(currentDirectory) ? currentDirectory : root)
    let context = IgnoreContext(
      root: root, top: top, sources: sources, environment: environment, repository: repository,
      warn: warn)
    var layers = IgnoreLayer.general(for: top, in: context, warn: warn)
    var directory = top
    Self.enter(directory, .ofTop(directory), &layers, in: context, warn: warn)
    for name in root.relative(to: top)?.components ?? [] where !name.elementsEqual(".".utf8) {
      directory = directory.appending(name)
      Self.enter(directory, .ofTop(directory), &layers, in: context, warn: warn)
    }
    self.init(layers: layers, context: context)
  }

  /// Creates the stack of a subdirectory. Reads the ignore files in it.
  ///
  /// - Parameters:
  ///   - directory: The absolute path of the subdirectory.
  ///   - warn: Called with the error for each file that exists and cannot be read. Its rules are
  ///     not applied.
  public func entering(
    _ directory: Path, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    entering(directory, seen: .present(in: directory), warn: warn)
  }

  /// The same, with the names in the subdirectory. Without ignore files, it is this stack.
  package func entering(
    _ directory: Path, seen: IgnoreFileNames, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    var context = storage.context
    var seen = seen.intersection(context.sources.fileNames)
    if !DefaultIgnores.isReportDirectory(directory) { seen.remove(.coverageReport) }
    if seen.isEmpty { return self }
    var layers = storage.layers
    if seen.contains(.git) {
      context.enter(GitRepository(root: directory), warn: warn)
      layers =
        IgnoreLayer.general(for: directory, in: context, warn: warn)
        + layers.filter(\.isOfProject)
    }
    Self.enter(directory, seen, &layers, in: context, warn: warn)
    return IgnoreStack(layers: layers, context: context, of: directory)
  }

  /// Adds the rules of a directory that holds these names.
  private static func enter(
    _ directory: Path, _ names: IgnoreFileNames, _ layers: inout [IgnoreLayer],
    in context: IgnoreContext, warn: (SystemError) -> Void
  ) {
    let names = names.intersection(context.sources.fileNames)
    // Weaker than all files.
    layers.insert(contentsOf: IgnoreLayer.marked(directory, names), at: 0)
    layers += IgnoreLayer.own(of: directory, names, in: context, warn: warn)
  }

  /// The ignore files that are applied, from the weakest to the strongest.
  public var files: [IgnoreFile] {
    storage.layers.compactMap { layer in
      layer.path.map { IgnoreFile(path: $0, list: layer.list) }
    }
  }

  /// The ignore files outside of the watched directory, or in its `.git`, that apply to it, or
  /// would if they existed.
  package var outerFiles: [Path] { storage.context.outerFiles }

  /// The outermost directory whose own ignore files are applied.
  package var top: Path { storage.context.top }

  /// Whether both are the same reference.
  package func isSame(as other: IgnoreStack) -> Bool {
    storage === other.storage
  }

  /// The offset of the part below the watched directory in the path of any descendant.
  var rootOffset: Int { storage.context.root.offsetBelow }
}

// MARK: - Matching

extension IgnoreStack {
  /// The position of a rule in a stack.
  struct Match {
    let layer: Int
    let index: Int
    /// Whether the rule ignores, and does not include.
    let ignores: Bool
  }

  /// The strongest rule that matches an entry of the directory; `nil` if none does. Allocates nothing.
  ///
  /// - Parameter name: The offset of its name in the absolute path.
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

  /// Whether the strongest rule that matches an entry of the directory ignores it; `nil` if no rule
  /// matches.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the entry.
  ///   - isDirectory: Whether it is a directory. A link to a directory is not.
  public func ignores(_ path: Path, isDirectory: Bool) -> Bool? {
    path.bytes.withUnsafeBufferPointer {
      match($0, nameAt: path.lastComponent.startIndex, isDirectory: isDirectory)?.ignores
    }
  }

  /// The rule at a position, for display.
  func rule(at match: Match) -> FilterDecision.Rule {
    let layer = storage.layers[match.layer]
    return layer.list.rule(at: match.index, source: layer.source)
  }
}

extension PatternList {
  /// The pattern at a position as a rule, for display.
  func rule(at index: Int, source: FilterDecision.Source) -> FilterDecision.Rule {
    FilterDecision.Rule(source: source, line: numbers[index], pattern: patterns[index].text)
  }
}
