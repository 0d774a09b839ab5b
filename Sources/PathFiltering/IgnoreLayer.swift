import SystemCalls

/// The rules of one source in an ignore stack.
struct IgnoreLayer: Sendable {
  /// Whether it also applies in nested repositories, unlike the rules of git.
  let isOfProject: Bool
  /// The source, for display.
  let source: FilterDecision.Source
  /// The path of the file; `nil` for the built-in list.
  let path: Path?
  let list: PatternList
  /// The offset, in the path of an entry, of the part below the directory to which the patterns are
  /// relative.
  let base: Int
}

// MARK: - Reading

extension IgnoreLayer {
  /// The layers that apply everywhere below the repository's root, `base`, from the weakest on: the
  /// built-in list, the user's files, and the repository's `info/exclude`.
  static func general(
    for base: Path, in context: IgnoreContext, warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    var layers: [IgnoreLayer] = []
    if context.sources.contains(.defaults) {
      layers.append(
        IgnoreLayer(
          isOfProject: false, source: .builtIn, path: nil, list: DefaultIgnores.list,
          base: base.offsetBelow))
    }
    for (file, shown) in context.generalFiles {
      layers += read(
        file.absolute(from: base), shownAs: shown, isOfProject: false, base: base, in: context,
        warn: warn)
    }
    return layers
  }

  /// The built-in rules of a directory that holds these names.
  static func marked(_ directory: Path, _ names: IgnoreFileNames) -> [IgnoreLayer] {
    if names.isDisjoint(with: .builtInMarkers) { return [] }
    return DefaultIgnores.markedRules.filter { names.contains($0.marker) }.map { marker, list in
      let base = marker == .coverageReport ? directory.parent ?? directory : directory
      return IgnoreLayer(
        isOfProject: false, source: .builtIn, path: nil, list: list, base: base.offsetBelow)
    }
  }

  /// The ignore files of these names in a directory, from the weakest on.
  static func own(
    of directory: Path, _ names: IgnoreFileNames, in context: IgnoreContext,
    warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    var layers: [IgnoreLayer] = []
    func append(_ file: IgnoreFileNames, _ name: String, isOfProject: Bool) {
      guard names.contains(file) else { return }
      let path = directory.appending(name)
      // Git does not follow a link to one, which could lead out of the repository.
      layers += read(
        path, shownAs: path.shown(in: context.top), followsLinks: file != .gitignore,
        isOfProject: isOfProject, base: directory, in: context, warn: warn)
    }
    append(.gitignore, ".gitignore", isOfProject: false)
    append(.ignore, ".ignore", isOfProject: true)
    append(.watchrunignore, ".watchrunignore", isOfProject: true)
    return layers
  }

  /// A file as a layer; none if the file does not exist or cannot be read.
  private static func read(
    _ path: Path, shownAs name: Path, followsLinks: Bool = true, isOfProject: Bool, base: Path,
    in context: IgnoreContext, warn: (SystemError) -> Void
  ) -> [IgnoreLayer] {
    do {
      guard let contents = try fileContents(of: path, followsLinks: followsLinks) else {
        return []
      }
      let file = IgnoreFile(
        path: path, contents: contents, ignoringCase: context.configuration.ignoresCase)
      return [
        IgnoreLayer(
          isOfProject: isOfProject, source: .file(name), path: path, list: file.list,
          base: base.offsetBelow)
      ]
    } catch {
      warn(error)
      return []
    }
  }
}

extension Path {
  /// The offset of the part below this directory in the path of any descendant.
  var offsetBelow: Int {
    bytes.last == UInt8(ascii: "/") ? bytes.count : bytes.count + 1
  }
}
