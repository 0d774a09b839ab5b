import SystemCalls

/// A filter that decides which directories are entered, and which changes are reported.
///
/// ```swift
/// let filter = PathFilter(base: "/project", ignore: ["*.log"], extensions: ["swift"])
/// let path: Path = "/project/Sources/main.swift"
/// filter.decision(for: path, isDirectory: false, below: "/project").isIncluded
/// ```
///
/// Rules, from the strongest to the weakest:
///
/// | rules | effect |
/// |---|---|
/// | a watched path | is always included; its descendants are judged by the names below it only |
/// | `ignore` | the last pattern that matches ignores, or includes if it starts with `!` |
/// | ignore files | see ``IgnoreStack`` |
/// | the built-in list | ignores files of tools, such as `.git` and swap files of editors |
///
/// Paths that are not ignored must also pass the following selections, if they are not empty. A
/// selection cannot include an ignored path, and does not prevent directories from being entered.
///
/// | selection | passes |
/// |---|---|
/// | `filter` | a path if the last pattern that matches it, or an ancestor below the base, does not start with `!`; if no pattern matches, the path passes only if all patterns start with `!` |
/// | `extensions` | files whose names end with one of them |
///
/// The patterns are relative to a base directory. Outside of it, anchored patterns match nothing,
/// and `filter` considers the ancestors below the watched directory.
public struct PathFilter: Sendable, Hashable {
  /// The directory to which the patterns are relative.
  public let base: Path
  /// The kinds of ignore rules that are applied.
  public let sources: IgnoreSources
  /// The environment variables by which the user's settings are found.
  public let environment: [String: String]
  /// The endings of file names that pass, each with a leading dot; all pass if empty.
  public let extensions: [[UInt8]]
  let ignoreList: PatternList
  let filterList: PatternList
  /// The paths that are treated as if they did not exist, whatever the rules: files that the observer's
  /// process itself writes. The patterns are relative to the root directory.
  package var hidden = PatternList([])

  /// The patterns of paths to ignore.
  public var ignore: [GlobPattern] { ignoreList.patterns }
  /// The patterns of paths that pass; all pass if empty.
  public var filter: [GlobPattern] { filterList.patterns }

  /// Creates a filter. Ignore files are not read until the filter is used.
  ///
  /// - Parameters:
  ///   - base: The directory to which the patterns are relative; an absolute path.
  ///   - ignore: The patterns of paths to ignore.
  ///   - filter: The patterns of paths that pass; all pass if empty.
  ///   - extensions: The extensions of file names that pass, with or without a leading dot, such as
  ///     `swift` or `tar.gz`; all pass if empty.
  ///   - sources: The kinds of ignore rules to apply.
  ///   - environment: The environment variables by which the user's settings are found, see
  ///     ``IgnoreStack/init(root:currentDirectory:sources:environment:warn:)``.
  public init(
    base: Path = "/", ignore: [GlobPattern] = [], filter: [GlobPattern] = [],
    extensions: [String] = [], sources: IgnoreSources = .all, environment: [String: String] = [:]
  ) {
    self.init(
      base: base, ignore: ignore, filter: filter, extensionBytes: extensions.map { Array($0.utf8) },
      sources: sources, environment: environment)
  }

  /// Creates a filter with extensions that need not be UTF-8.
  public init(
    base: Path = "/", ignore: [GlobPattern] = [], filter: [GlobPattern] = [],
    extensionBytes: [[UInt8]], sources: IgnoreSources = .all, environment: [String: String] = [:]
  ) {
    self.base = base
    ignoreList = PatternList(ignore.map { $0.anchored(to: base) })
    filterList = PatternList(filter.map { $0.anchored(to: base) })
    extensions = extensionBytes.map {
      $0.first == UInt8(ascii: ".") ? $0 : [UInt8(ascii: ".")] + $0
    }
    self.sources = sources
    self.environment = environment
  }

  /// The ignore rules of a directory to watch. Reads files; see
  /// ``IgnoreStack/init(root:currentDirectory:sources:environment:warn:)``.
  package func stack(
    forRoot root: Path, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    IgnoreStack(
      root: root, currentDirectory: base, sources: sources, environment: environment, warn: warn)
  }
}

// MARK: - Entries

extension PathFilter {
  /// Whether an entry is not ignored, so that it is entered if it is a directory.
  ///
  /// The ancestors of the entry, up to the watched directory, must not be ignored. Allocates
  /// nothing.
  package func mayEnter(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool = true,
    in stack: IgnoreStack
  ) -> Bool {
    if isHidden(path, nameAt: name, isDirectory: isDirectory) { return false }
    if let index = ignoreIndex(path, nameAt: name, isDirectory: isDirectory) {
      return ignoreList.patterns[index].isNegated
    }
    return stack.match(path, nameAt: name, isDirectory: isDirectory)?.ignores != true
  }

  /// Whether a change of an entry is reported: it is not ignored, and passes the selections.
  ///
  /// Preconditions and parameters are those of ``mayEnter(_:nameAt:isDirectory:in:)``.
  package func reports(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, in stack: IgnoreStack
  ) -> Bool {
    mayEnter(path, nameAt: name, isDirectory: isDirectory, in: stack)
      && passesSelections(
        path, nameAt: name, isDirectory: isDirectory, rootOffset: stack.rootOffset)
  }

  func passesSelections(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, rootOffset: Int
  ) -> Bool {
    passesFilter(
      filterIndex(path, nameAt: name, isDirectory: isDirectory, rootOffset: rootOffset))
      && passesExtensions(extensionIndex(path, isDirectory: isDirectory))
  }

  func isHidden(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Bool {
    if hidden.patterns.isEmpty { return false }
    return hidden.lastIndex(matching: path, base: 1, nameAt: name, isDirectory: isDirectory) != nil
  }

  func ignoreIndex(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Int? {
    if ignoreList.patterns.isEmpty { return nil }
    return ignoreList.lastIndex(
      matching: path, base: baseOffset(in: path), nameAt: name, isDirectory: isDirectory)
  }

  /// The index of the last filter pattern that matches the path or an ancestor.
  func filterIndex(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool, rootOffset: Int
  ) -> Int? {
    if filterList.patterns.isEmpty { return nil }
    let base = baseOffset(in: path)
    var last = filterList.lastIndex(
      matching: path, base: base, nameAt: name, isDirectory: isDirectory)
    var begin = min(base ?? rootOffset, name)
    while begin < name, let end = path[begin..<name].firstIndex(of: UInt8(ascii: "/")) {
      let directory = UnsafeBufferPointer(rebasing: path[..<end])
      let index = filterList.lastIndex(
        matching: directory, base: base, nameAt: begin, isDirectory: true)
      if let index { last = max(last ?? index, index) }
      begin = end + 1
    }
    return last
  }

  func passesFilter(_ index: Int?) -> Bool {
    if let index { return !filterList.patterns[index].isNegated }
    return filterList.patterns.allSatisfy(\.isNegated)
  }

  /// The index of the extension of the path.
  func extensionIndex(_ path: UnsafeBufferPointer<UInt8>, isDirectory: Bool) -> Int? {
    if isDirectory { return nil }
    return extensions.firstIndex { ending in
      path.count > ending.count && path.suffix(ending.count).elementsEqual(ending)
    }
  }

  func passesExtensions(_ index: Int?) -> Bool {
    index != nil || extensions.isEmpty
  }

  /// The offset of the part of the path below the base; `nil` if the path is not below it.
  private func baseOffset(in path: UnsafeBufferPointer<UInt8>) -> Int? {
    let offset = base.offsetBelow
    guard path.count > offset, path[offset - 1] == UInt8(ascii: "/") else { return nil }
    return path.starts(with: base.bytes) ? offset : nil
  }
}
