import PathFiltering
import Support
import SystemCalls

/// A workspace of npm, pnpm, yarn or bun: the root, whose files name the directories of its members.
struct Workspace {
  /// The file of pnpm.
  static let file = "pnpm-workspace.yaml"

  let root: ProjectDirectory
  private let patterns: [GlobPattern]

  /// `nil` if the directory is no root.
  init?(_ root: ProjectDirectory) {
    self.root = root
    let list = root.json(of: ProjectDetection.package)?["workspaces"]
    let named = (list?["packages"] ?? list)?.elements.compactMap(\.text) ?? []
    patterns = (named + Self.packages(in: root.text(of: Self.file) ?? "")).flatMap { text in
      // Patterns are paths from the root, also `core`.
      let isNegated = text.hasPrefix("!")
      let body = text.dropFirst(isNegated ? 1 : 0)
      let anchored = body.hasPrefix(".") || body.hasPrefix("/") ? body : "/" + body
      return (try? GlobPattern.parse(((isNegated ? "!" : "") + anchored).word)) ?? []
    }
    if patterns.isEmpty { return nil }
  }

  /// The root of the workspace of which a directory is a member; `nil` if there is none.
  static func root(of member: ProjectDirectory) -> ProjectDirectory? {
    member.ancestors.first { Workspace($0)?.includes(member) == true }
  }

  /// The entries of `packages:`, a list of one or several lines.
  private static func packages(in text: String) -> [String] {
    var isInside = false
    return text.split(whereSeparator: \.isNewline).flatMap { line in
      var words = line.split { " \t'\"[]".contains($0) }.prefix { !$0.hasPrefix("#") }
      if let first = line.first, !" \t-#".contains(first) {
        isInside = words.first == "packages:"
        words = words.dropFirst()
      }
      let names = words.map { $0.last == "," ? $0.dropLast() : $0 }
      return isInside ? names.filter { !$0.isEmpty && $0 != "-" }.map(String.init) : []
    }
  }

  func includes(_ directory: ProjectDirectory) -> Bool {
    guard let path = directory.path.relative(to: root.path) else { return false }
    return includes(path)
  }

  private func includes(_ path: Path) -> Bool {
    patterns.last { $0.matches(path, isDirectory: true) }.map { !$0.isNegated } ?? false
  }

  /// The directories that exist and are named.
  var members: [ProjectDirectory] {
    var known: Set<Path> = []
    return patterns.filter { !$0.isNegated }.flatMap { pattern in
      let names = pattern.text.decoded.split(separator: Character("/")).map(String.init)
      let fixed = names.prefix { !$0.contains { "*?[\\".contains($0) } }
      let depth = names.contains("**") ? Self.depth : names.count - fixed.count
      return Self.directories(in: root, at: fixed.joined(separator: "/"), depth: depth)
    }.filter { path in
      includes(path) && known.insert(path).inserted
    }.map { ProjectDirectory(path: $0.absolute(from: root.path)) }
  }

  /// How far down `**` is followed.
  static let depth = 4
  /// What tools write, and the sources of others.
  private static let foreign = ["node_modules", "target", "vendor"]

  static func directories(
    in root: ProjectDirectory, at place: String, depth: Int
  ) -> [Path] {
    let here = place.isEmpty ? [] : [Path(place)]
    if depth == 0 { return here }
    let names = ProjectDirectory(path: Path(place).absolute(from: root.path)).names(of: .directory)
    return here
      + names.filter { !foreign.contains($0) }.flatMap {
        directories(in: root, at: place.isEmpty ? $0 : "\(place)/\($0)", depth: depth - 1)
      }
  }
}

extension ProjectDetection {
  /// The tasks of a package whose members have scripts, and which has none of its own.
  static func workspaceSteps(in directory: ProjectDirectory, _ manager: String) -> [Step] {
    let members = Workspace(directory)?.members ?? []
    return ["build", "test"].compactMap { name in
      let isDefined = members.contains {
        script(name, in: $0).map { !isPlaceholder($0.line) } ?? false
      }
      guard isDefined else { return nil }
      switch manager {
      case "npm": return Step(name, "npm run \(name) --workspaces --if-present")
      case "pnpm": return Step(name, "pnpm -r run \(name)")
      case "bun": return Step(name, "bun run --filter '*' \(name)")
      default: return nil
      }
    }
  }
}
