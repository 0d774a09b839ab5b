import SystemCalls

extension PathFilter {
  /// Decides on a path below a watched directory.
  ///
  /// Each call reads the ignore files of the repository down to the path. For a whole tree, keep an
  /// ``IgnoreStack`` instead, and pass it. A path that is not below `root` is included.
  ///
  /// - Parameters:
  ///   - path: The path. A relative one is relative to the base.
  ///   - isDirectory: Whether it is a directory. As in git, a link to a directory is not.
  ///   - root: The watched directory. A relative path is relative to the base.
  ///   - warn: Called with the error for each ignore file that exists and cannot be read.
  /// - Returns: The decision, and the rule that made it.
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
      let isDirectory = (try? FileStatus(of: entry)).map { $0.type == .directory } ?? true
      let decision = ignoreDecision(on: entry, isDirectory: isDirectory, in: stack)
      if !decision.isIncluded { return decision }
      stack = stack.entering(entry, seen: .present(in: entry), warn: warn)
    }
    return decision(for: path, isDirectory: isDirectory, in: stack)
  }

  /// Decides on an entry of a directory with these rules, given by its absolute path, as `reports` does.
  public func decision(
    for path: Path, isDirectory: Bool, in stack: IgnoreStack
  ) -> FilterDecision {
    let decision = ignoreDecision(on: path, isDirectory: isDirectory, in: stack)
    if !decision.isIncluded { return decision }
    let selections = selectionDecision(
      on: path, isDirectory: isDirectory, rootOffset: stack.rootOffset)
    return selections.isIncluded && decision.rule != nil ? decision : selections
  }

  /// Decides whether an entry is ignored, as `mayEnter` does.
  private func ignoreDecision(
    on path: Path, isDirectory: Bool, in stack: IgnoreStack
  ) -> FilterDecision {
    path.bytes.withUnsafeBufferPointer { bytes in
      let name = path.lastComponent.startIndex
      if isHidden(bytes, nameAt: name, isDirectory: isDirectory) { return .hidden }
      if let index = ignoreIndex(bytes, nameAt: name, isDirectory: isDirectory) {
        return FilterDecision(
          isIncluded: ignoreList.patterns[index].isNegated,
          rule: ignoreList.rule(at: index, source: .parameter(.ignore)))
      }
      guard let match = stack.match(bytes, nameAt: name, isDirectory: isDirectory) else {
        return .unmatched
      }
      return FilterDecision(isIncluded: !match.ignores, rule: stack.rule(at: match))
    }
  }

  /// Decides whether a path passes the selections. The rule is that of the first selection that it
  /// does not pass, or else of the first that has one.
  private func selectionDecision(
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
        source: .parameter(.filter), line: index + 1,
        pattern: filterList.patterns[index].negatedText)
    }
    guard passesFilter(filterIndex) else {
      return FilterDecision(isIncluded: false, rule: filterRule ?? .rest(of: .filter))
    }
    guard passesExtensions(extensionIndex) else {
      return FilterDecision(isIncluded: false, rule: .rest(of: .extensions))
    }
    let extensionRule = extensionIndex.map { index in
      FilterDecision.Rule(
        source: .parameter(.extensions), line: index + 1,
        pattern: [UInt8(ascii: "!"), UInt8(ascii: "*")] + extensions[index])
    }
    return FilterDecision(isIncluded: true, rule: filterRule ?? extensionRule)
  }
}

extension GlobPattern {
  /// The pattern negated: the paths that a filter selects are included again in the equivalent
  /// ignore file.
  fileprivate var negatedText: [UInt8] {
    isNegated ? Array(text.dropFirst()) : [UInt8(ascii: "!")] + text
  }
}

extension FilterDecision.Rule {
  /// The `*` before the patterns of a selection, which ignores all paths that it does not select.
  fileprivate static func rest(of parameter: FilterDecision.Parameter) -> FilterDecision.Rule {
    FilterDecision.Rule(source: .parameter(parameter), line: 0, pattern: [UInt8(ascii: "*")])
  }
}
