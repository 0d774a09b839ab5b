import PathFiltering
import SystemCalls

/// The directories in which a task with `each` runs: those with a file that matches its patterns.
enum ProjectMembers {
  /// The directories, relative to the root, which is `.`, each once. The mere root of a workspace is none.
  static func directories(
    with patterns: [GlobPattern], in root: ProjectDirectory
  ) -> [Path] {
    var known: Set<Path> = []
    return patterns.filter { !$0.isNegated }.flatMap { pattern in
      places(of: pattern, in: root).filter { place in
        // The names of its tasks are shown.
        guard place.bytes.printable == place.bytes.decoded else { return false }
        let names = ProjectDirectory(path: place.absolute(from: root.path)).names(of: .file)
        return names.contains { name in
          includes(place == "." ? Path(name) : place.appending(name), patterns)
            && !(place == "." && isMereRoot(root, name))
        } && known.insert(place).inserted
      }
    }
  }

  /// Whether a file is one by which a directory is found.
  static func includes(_ file: Path, _ patterns: [GlobPattern]) -> Bool {
    patterns.last { $0.matches(file, isDirectory: false) }.map { !$0.isNegated } ?? false
  }

  /// The directories that may have a file that matches.
  private static func places(of pattern: GlobPattern, in root: ProjectDirectory) -> [Path] {
    let (start, depth) = extent(of: pattern)
    return (start.isEmpty ? ["."] : []) + Workspace.directories(in: root, at: start, depth: depth)
  }

  /// The directory without wildcards in which to look for the files of a pattern, and how far below it.
  private static func extent(of pattern: GlobPattern) -> (start: String, depth: Int) {
    if !pattern.isAnchored { return ("", Workspace.depth) }
    let names = pattern.text.decoded.split(separator: Character("/")).map(String.init).dropLast()
    let fixed = names.prefix { !$0.contains { "*?[\\".contains($0) } }
    let depth = names.contains("**") ? Workspace.depth : names.count - fixed.count
    return (fixed.joined(separator: "/"), depth)
  }

  /// The directories in which new ones may appear.
  static func roots(of patterns: [GlobPattern]) -> [Path] {
    var roots: [Path] = []
    for pattern in patterns where !pattern.isNegated {
      let start = extent(of: pattern).start
      let root = start.isEmpty ? "." : Path(start)
      if !roots.contains(root) { roots.append(root) }
    }
    return roots
  }

  private static func isMereRoot(_ root: ProjectDirectory, _ file: String) -> Bool {
    switch file {
    case ProjectDetection.package: Workspace(root) != nil
    case "Cargo.toml":
      root.holds([file], with: "[workspace") && !root.holds([file], with: "[package]")
    default: false
    }
  }
}
