import PathFiltering
import Support
import SystemCalls

/// A workspace of npm, pnpm, yarn or bun: the root, whose files name the directories of its members.
struct Workspace {
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

  /// The patterns of the files of its members.
  var manifests: [String] {
    patterns.map { pattern in
      let place = pattern.text.decoded.drop { "!/".contains($0) }
      let file = ProjectDetection.manifest(ProjectDetection.package, in: String(place))
      return (pattern.isNegated ? "!" : "") + file
    }
  }

  /// The workspace of a root or of a member.
  init?(of directory: ProjectDirectory) {
    self.init(Self.root(of: directory) ?? directory)
  }

  func includes(_ directory: ProjectDirectory) -> Bool {
    guard let path = directory.path.relative(to: root.path) else { return false }
    return patterns.last { $0.matches(path, isDirectory: true) }.map { !$0.isNegated } ?? false
  }

  /// The directories that exist and are named.
  var members: [ProjectDirectory] {
    let files = manifests.compactMap { GlobPattern(line: $0) }
    return ProjectMembers.directories(with: files, in: root).map {
      ProjectDirectory(path: $0.absolute(from: root.path))
    }
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
    guard let workspace = Workspace(directory) else { return [] }
    let members = workspace.members
    return ["build", "test"].compactMap { name in
      let owners = members.filter { member in
        isRunnable(name, in: member)
      }
      if owners.isEmpty { return nil }
      let places = owners.compactMap { $0.path.relative(to: directory.path)?.bytes }
      let each =
        owners.count == members.count
        ? workspace.manifests
        : places.map { manifest(package, in: GlobPattern.escaped($0).decoded) }
      // Scripts of later members may be others.
      let option = manager == "yarn" ? "" : " --if-present"
      return Step(name, "\(manager) run\(option) \(name)", each: each)
    }
  }

  /// The patterns of the members of a workspace of Cargo; none if it has at most one.
  static func cargoMembers(of root: ProjectDirectory) -> [String] {
    var (members, excluded, isInside) = ([String](), [String](), nil as Bool?)
    var isOfWorkspace = false
    for line in (root.text(of: "Cargo.toml") ?? "").split(whereSeparator: \.isNewline) {
      let plain = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
      // A package has an `exclude` of its own.
      if isInside == nil, plain.hasPrefix("[") { isOfWorkspace = plain == "[workspace]" }
      if isOfWorkspace, plain.hasPrefix("members=[") { isInside = true }
      if isOfWorkspace, plain.hasPrefix("exclude=[") { isInside = false }
      guard let isMember = isInside else { continue }
      let list = plain.firstIndex(of: "=").map { plain[$0...] } ?? plain[...]
      let names = list.split { "\"'=[,]".contains($0) }
      let files = names.map { manifest("Cargo.toml", in: String($0)) }
      if isMember { members += files } else { excluded += files }
      if plain.utf8.contains(UInt8(ascii: "]")) { isInside = nil }
    }
    if root.holds(["Cargo.toml"], with: "[package]") { members.append("/Cargo.toml") }
    let all = members + excluded.map { "!" + $0 }
    let patterns = all.compactMap { GlobPattern(line: $0) }
    return ProjectMembers.directories(with: patterns, in: root).count > 1 ? all : []
  }

  /// The modules that `go.work` uses, without those that it replaces others with.
  static func goModules(of root: ProjectDirectory) -> [String] {
    (root.text(of: "go.work") ?? "").split(whereSeparator: \.isNewline).flatMap { line in
      line.split(whereSeparator: \.isWhitespace)
        .prefix { !$0.hasPrefix("//") && $0 != "=>" }.filter { $0.hasPrefix(".") }.map(String.init)
    }
  }

  /// The pattern of a file in a directory, or in those that a pattern names.
  static func manifest(_ file: String, in place: String) -> String {
    let names = place.split(separator: Character("/")).filter { $0 != "." }
    return names.isEmpty ? "/" + file : names.joined(separator: "/") + "/" + file
  }
}

extension Path {
  /// What is wrong with a manifest, if that can be told: then it says nothing of its members. It may be one that is
  /// being written, or merged.
  package func problemInManifest(in directory: Path) -> String? {
    guard let text = try? fileContents(of: self) else { return nil }
    let name = shown(in: directory)
    switch lastComponent.decoded {
    case "package.json":
      do throws(JSONSyntaxError) {
        _ = try JSONValue(parsing: text)
        return nil
      } catch {
        let line = text.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
        return "\(name):\(line): \(error.message)"
      }
    case "go.work":
      let words = text.split { $0 <= UInt8(ascii: " ") }
      let depth = text.count { $0 == UInt8(ascii: "(") } - text.count { $0 == UInt8(ascii: ")") }
      if words.isEmpty { return "\(name): the file is empty" }
      return depth == 0 ? nil : "\(name): no complete 'use' in it"
    case "Cargo.toml":
      let lines = text.split(separator: UInt8(ascii: "\n"))
      // How many arrays are open.
      var depth = 0
      let header = lines.first { line in
        let isBroken =
          depth == 0 && line.first == UInt8(ascii: "[") && !line.contains(UInt8(ascii: "]"))
        for byte in line.prefix(while: { $0 != UInt8(ascii: "#") }) {
          if byte == UInt8(ascii: "[") { depth += 1 }
          if byte == UInt8(ascii: "]") { depth = max(0, depth - 1) }
        }
        return isBroken
      }
      if lines.isEmpty { return "\(name): the file is empty" }
      return header.map { "\(name): '\($0.decoded.printable)' has no ']'" }
    default: return nil
    }
  }
}
