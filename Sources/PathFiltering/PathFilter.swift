import SystemCalls

/// Decides which paths are of interest: which folders are entered, and which changes are reported.
///
/// From strong to weak:
///
/// | rules | what they do |
/// |---|---|
/// | a watched path itself | is never overruled, and what lies below it is judged by the names below it only |
/// | `ignore` (`-i`) | the last pattern that matches ignores, or with `!` brings back |
/// | ignore files | see ``IgnoreStack`` |
/// | the built-in list | likewise; everything above can bring back |
///
/// What is not ignored has to pass two more gates, if they are set. They do not bring back what is
/// ignored, and keep no folder from being entered.
///
/// | gates | what they let pass |
/// |---|---|
/// | `filter` (`-f`) | a path if the last pattern that matches it, or a folder above it and below the base, has no `!`; where no pattern matches, nothing, or everything if all patterns have `!` |
/// | `extensions` (`-e`) | what matches `*.ext` and is no folder |
///
/// Patterns of the options are relative to a base, which is the user's current folder. On paths
/// elsewhere, anchored ones match nothing, and `filter` looks at the folders below the watched one.
public struct PathFilter: Sendable, Hashable {
  private let base: Path
  let ignore: PatternList
  private let filter: PatternList
  private let extensions: [[UInt8]]
  private let sources: IgnoreSources
  private let environment: [String: String]

  /// A filter.
  ///
  /// - Parameters:
  ///   - base: The folder to which the patterns are relative; an absolute path.
  ///   - ignore: What to ignore.
  ///   - filter: What to let pass; everything if empty.
  ///   - extensions: The endings of file names to let pass, with or without a dot in front, such as
  ///     `swift` or `tar.gz`; everything if empty.
  ///   - sources: The kinds of ignore rules to use.
  ///   - environment: Where the user's settings are looked up, see
  ///     ``IgnoreStack/init(root:currentFolder:sources:environment:warn:)``.
  public init(
    base: Path = "/", ignore: [GlobPattern] = [], filter: [GlobPattern] = [],
    extensions: [[UInt8]] = [], sources: IgnoreSources = .all, environment: [String: String] = [:]
  ) {
    self.base = base
    self.ignore = PatternList(ignore)
    self.filter = PatternList(filter)
    self.extensions = extensions.map { $0.first == Byte.dot ? $0 : [Byte.dot] + $0 }
    self.sources = sources
    self.environment = environment
  }

  /// The ignore rules for a folder that is about to be watched. Reads files; see
  /// ``IgnoreStack/init(root:currentFolder:sources:environment:warn:)``.
  public func stack(
    forRoot root: Path, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    IgnoreStack(
      root: root, currentFolder: base, sources: sources, environment: environment, warn: warn)
  }

  /// The ignore rules for a subfolder of the folder that has the rules `parent`; see
  /// ``IgnoreStack/entering(_:seen:warn:)``.
  public func stack(
    entering folder: Path, seen: IgnoreFileNames, from parent: IgnoreStack,
    warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    parent.entering(folder, seen: seen, warn: warn)
  }
}

// MARK: - Asking, entry by entry

extension PathFilter {
  /// True if an entry is not ignored: a folder is then entered and watched.
  ///
  /// All folders above the entry, up to the watched one, must have been found not to be ignored.
  /// Allocates nothing.
  ///
  /// - Parameters:
  ///   - path: The entry's absolute path.
  ///   - name: Where its name begins.
  ///   - isDirectory: True for a folder. For git a link to one is none.
  ///   - stack: The rules for the folder that the entry is in.
  public func mayEnter(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool = true,
    in stack: IgnoreStack
  ) -> Bool {
    if let index = ignoreIndex(path, nameAt: name, isDirectory: isDirectory) {
      return ignore.patterns[index].isNegated
    }
    return stack.match(path, nameAt: name, isDirectory: isDirectory)?.ignores != true
  }

  /// True if a change of an entry is reported: it is not ignored, and passes the gates.
  ///
  /// The conditions and parameters are those of ``mayEnter(_:nameAt:isDirectory:in:)``. Of a path
  /// that is gone, the caller says what it was.
  public func reports(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, in stack: IgnoreStack
  ) -> Bool {
    mayEnter(path, nameAt: name, isDirectory: isDirectory, in: stack)
      && passesGates(
        path, nameAt: name, isDirectory: isDirectory, rootOffset: stack.rootOffset)
  }

  func passesGates(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, rootOffset: Int
  ) -> Bool {
    passesFilter(
      filterIndex(path, nameAt: name, isDirectory: isDirectory, rootOffset: rootOffset))
      && passesExtensions(extensionIndex(path, isDirectory: isDirectory))
  }

  func ignoreIndex(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Int? {
    if ignore.patterns.isEmpty { return nil }
    return ignore.lastIndex(
      matching: path, base: baseOffset(in: path), nameAt: name, isDirectory: isDirectory)
  }

  /// The last pattern of the filter that matches the path or a folder above it.
  private func filterIndex(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, rootOffset: Int
  ) -> Int? {
    if filter.patterns.isEmpty { return nil }
    let base = baseOffset(in: path)
    var last = filter.lastIndex(
      matching: path, base: base, nameAt: name, isDirectory: isDirectory)
    var begin = min(base ?? rootOffset, name)
    while begin < name, let end = path[begin..<name].firstIndex(of: Byte.slash) {
      let folder = UnsafeBufferPointer(rebasing: path[..<end])
      let index = filter.lastIndex(matching: folder, base: base, nameAt: begin, isDirectory: true)
      if let index { last = max(last ?? index, index) }
      begin = end + 1
    }
    return last
  }

  private func passesFilter(_ index: Int?) -> Bool {
    if let index { return !filter.patterns[index].isNegated }
    return filter.patterns.allSatisfy(\.isNegated)
  }

  /// The extension that the path has.
  private func extensionIndex(_ path: UnsafeBufferPointer<UInt8>, isDirectory: Bool) -> Int? {
    if isDirectory { return nil }
    return extensions.firstIndex { ending in
      path.count > ending.count && path.suffix(ending.count).elementsEqual(ending)
    }
  }

  private func passesExtensions(_ index: Int?) -> Bool {
    index != nil || extensions.isEmpty
  }

  /// Where the part of the path below the base begins; nil if it lies elsewhere.
  private func baseOffset(in path: UnsafeBufferPointer<UInt8>) -> Int? {
    let offset = base.offsetBelow
    guard path.count > offset, path[offset - 1] == Byte.slash else { return nil }
    return path.starts(with: base.bytes) ? offset : nil
  }
}

// MARK: - Explaining

extension PathFilter {
  /// What is decided on a path below a watched folder, and by which rule: the answer of
  /// ``reports(_:nameAt:isDirectory:in:)``, found by walking down from the folder.
  ///
  /// Reads the ignore files on the way. A path that is not below `root` is taken for a watched path
  /// itself, and included.
  ///
  /// - Parameters:
  ///   - path: The path; a relative one begins at the base.
  ///   - isDirectory: True for a folder. For git a link to one is none.
  ///   - root: The watched folder; a relative one begins at the base.
  ///   - warn: Is told of each ignore file that is there and cannot be read.
  public func decision(
    for path: Path, isDirectory: Bool, below root: Path, warn: (SystemError) -> Void = { _ in }
  ) -> FilterDecision {
    let path = path.absolute(from: base)
    var entry = root.absolute(from: base)
    guard path != entry, let names = path.relative(to: entry)?.components else {
      return .unmatched
    }
    var stack = stack(forRoot: entry, warn: warn)
    for name in names.dropLast() {
      entry = entry.appending(name)
      let isFolder = (try? FileStatus(of: entry)).map { $0.type == .directory } ?? true
      let decision = ignoreDecision(on: entry, isDirectory: isFolder, in: stack)
      if !decision.isIncluded { return decision }
      stack = stack.entering(entry, seen: .present(in: entry), warn: warn)
    }
    let decision = ignoreDecision(on: path, isDirectory: isDirectory, in: stack)
    if !decision.isIncluded { return decision }
    let gates = gateDecision(on: path, isDirectory: isDirectory, rootOffset: stack.rootOffset)
    return gates.isIncluded && decision.rule != nil ? decision : gates
  }

  /// What `mayEnter` answers, with the rule.
  private func ignoreDecision(
    on path: Path, isDirectory: Bool, in stack: IgnoreStack
  ) -> FilterDecision {
    path.bytes.withUnsafeBufferPointer { bytes in
      let name = path.lastComponent.startIndex
      if let index = ignoreIndex(bytes, nameAt: name, isDirectory: isDirectory) {
        return FilterDecision(
          isIncluded: ignore.patterns[index].isNegated,
          rule: ignore.rule(at: index, source: .option(.ignore)))
      }
      guard let match = stack.match(bytes, nameAt: name, isDirectory: isDirectory) else {
        return .unmatched
      }
      return FilterDecision(isIncluded: !match.ignores, rule: stack.rule(at: match))
    }
  }

  /// What the gates say, and the rule: of the first that refuses the path, or else of the first
  /// that has a rule for it.
  private func gateDecision(
    on path: Path, isDirectory: Bool, rootOffset: Int
  ) -> FilterDecision {
    let name = path.lastComponent.startIndex
    let filterIndex = path.bytes.withUnsafeBufferPointer {
      self.filterIndex($0, nameAt: name, isDirectory: isDirectory, rootOffset: rootOffset)
    }
    let extensionIndex = path.bytes.withUnsafeBufferPointer {
      self.extensionIndex($0, isDirectory: isDirectory)
    }
    let filterRule = filterIndex.map { index in
      FilterDecision.Rule(
        source: .option(.filter), line: index + 1, pattern: filter.patterns[index].textTurnedRound)
    }
    guard passesFilter(filterIndex) else {
      return FilterDecision(isIncluded: false, rule: filterRule ?? .rest(of: .filter))
    }
    guard passesExtensions(extensionIndex) else {
      return FilterDecision(isIncluded: false, rule: .rest(of: .extensions))
    }
    let extensionRule = extensionIndex.map { index in
      FilterDecision.Rule(
        source: .option(.extensions), line: index + 1,
        pattern: [Byte.exclamation, Byte.star] + extensions[index])
    }
    return FilterDecision(isIncluded: true, rule: filterRule ?? extensionRule)
  }
}

extension GlobPattern {
  /// The pattern with the other sign: what passes a filter is what an ignore file brings back.
  fileprivate var textTurnedRound: [UInt8] {
    isNegated ? Array(text.dropFirst()) : [Byte.exclamation] + text
  }
}

extension FilterDecision.Rule {
  /// The `*` before the patterns of a gate, which refuses what none of them lets pass.
  fileprivate static func rest(of option: FilterDecision.Option) -> FilterDecision.Rule {
    FilterDecision.Rule(source: .option(option), line: 0, pattern: [Byte.star])
  }
}
