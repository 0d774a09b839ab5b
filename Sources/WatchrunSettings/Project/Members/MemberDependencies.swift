import Support
import SystemCalls

/// Which directories of a project depend on which others, as their manifests say: `package.json`, `Cargo.toml` and
/// `go.mod`.
struct MemberDependencies {
  let members: [Path]
  private let root: ProjectDirectory
  /// By the index of the member.
  private let packages: [String?]
  private let modules: [String?]
  /// The members on which each one depends, and that come before it.
  private(set) var before: [Path: [Path]] = [:]
  /// The members on which each one depends that depend on it themselves. Development dependencies may be cyclic.
  private(set) var around: [Path: [Path]] = [:]
  /// The directories in the project that each one names besides, in which no task runs.
  private(set) var others: [Path: [Path]] = [:]

  init(_ members: [Path], in root: ProjectDirectory) {
    (self.members, self.root) = (members, root)
    let directories = members.map { ProjectDirectory(path: $0.absolute(from: root.path)) }
    packages = directories.map { $0.json(of: ProjectDetection.package)?["name"]?.text }
    modules = directories.map { directory in
      let words = Self.words(of: directory)
      let key = words.firstIndex(of: "module") ?? words.endIndex
      return key + 1 < words.endIndex ? words[key + 1] : nil
    }
    for (member, directory) in zip(members, directories) {
      let found = node(directory) + cargo(directory) + go(directory)
      before[member] = members.filter { $0 != member && found.contains($0) }
      var known: Set<Path> = []
      others[member] = found.filter { path in
        !members.contains(path) && member != "." && !path.isWithin(member)
          && root.type(of: path) == .directory && known.insert(path).inserted
      }
    }
    breakCycles()
  }

  /// Moves the last dependency of each cycle.
  private mutating func breakCycles() {
    var done: Set<Path> = []
    var open: [Path] = []
    func visit(_ member: Path, _ lists: inout MemberDependencies) {
      open.append(member)
      for other in lists.before[member] ?? [] {
        if open.contains(other) {
          lists.before[member]?.removeAll { $0 == other }
          lists.around[member, default: []].append(other)
        } else if !done.contains(other) {
          visit(other, &lists)
        }
      }
      done.insert(open.removeLast())
    }
    for member in members where !done.contains(member) { visit(member, &self) }
  }

  // MARK: - Manifests

  private func node(_ directory: ProjectDirectory) -> [Path] {
    guard let manifest = directory.json(of: ProjectDetection.package) else { return [] }
    let kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"]
    return kinds.flatMap { manifest[$0]?.members ?? [] }.compactMap { member in
      if let index = packages.firstIndex(of: member.key) { return members[index] }
      // "file:../core" may have any name.
      let value = member.value.text ?? ""
      guard let place = value.split(separator: Character(":")).last, place.hasPrefix(".") else {
        return nil
      }
      return path(of: String(place), from: directory)
    }
  }

  /// A path of a manifest, relative to the project; `nil` if it is not within.
  private func path(of place: String, from directory: ProjectDirectory) -> Path? {
    Path(place).absolute(from: directory.path).relative(to: root.path)
  }

  private func cargo(_ directory: ProjectDirectory) -> [Path] {
    guard let text = directory.text(of: "Cargo.toml") else { return [] }
    let above = directory.path.lineage.dropFirst().filter { $0.isWithin(root.path) }
    let workspace = above.firstResult { path -> ProjectDirectory? in
      let directory = ProjectDirectory(path: path)
      return directory.holds(["Cargo.toml"], with: "[workspace") ? directory : nil
    }
    let inherited = workspace.map { CargoDependency.inherited(by: directory, from: $0) } ?? []
    return inherited.compactMap { $0.relative(to: root.path) }
      + CargoDependency.all(in: text).compactMap { dependency in
        dependency.isShared ? nil : dependency.path.flatMap { path(of: $0, from: directory) }
      }
  }

  private func go(_ directory: ProjectDirectory) -> [Path] {
    let words = Self.words(of: directory)
    return members.indices.filter { index in modules[index].map(words.contains) ?? false }
      .map { members[$0] }
      // "replace example.com/core => ../core"
      + words.filter { $0.hasPrefix(".") }.compactMap { path(of: $0, from: directory) }
  }

  private static func words(of directory: ProjectDirectory) -> [String] {
    (directory.text(of: "go.mod") ?? "").split(whereSeparator: \.isNewline).flatMap { line in
      line.split(whereSeparator: \.isWhitespace).prefix { !$0.hasPrefix("//") }.map(String.init)
    }
  }
}

struct CargoDependency {
  var name: String
  var path: String?
  /// Whether its path is that of the workspace: `core.workspace = true`.
  var isInherited = false
  /// Whether it is one of the workspace, for its members.
  var isShared: Bool

  /// The directories of a workspace that a member names: one that only inherits its version names none.
  static func inherited(by member: ProjectDirectory, from root: ProjectDirectory) -> [Path] {
    let shared = all(in: root.text(of: "Cargo.toml") ?? "").filter(\.isShared)
    return all(in: member.text(of: "Cargo.toml") ?? "").compactMap { dependency in
      guard dependency.isInherited, !dependency.isShared else { return nil }
      return shared.first { $0.name == dependency.name }?.path.map {
        Path($0).absolute(from: root.path)
      }
    }
  }

  /// The lines of the tables that name dependencies: `core = { path = "../core" }`, `core.path = "../core"`, and
  /// `path = "../core"` below `[dependencies.core]`.
  static func all(in text: String) -> [CargoDependency] {
    var (found, table, isShared) = ([CargoDependency](), nil as String?, false)
    var isInside = false
    for line in text.split(whereSeparator: \.isNewline) {
      let plain = line.filter { !$0.isWhitespace }
      if plain.hasPrefix("[") {
        let names = plain.prefix { $0 != "]" }.dropFirst().split(separator: Character("."))
        let place = names.lastIndex { $0.hasSuffix("dependencies") }
        isInside = place != nil
        isShared = names.first == "workspace"
        table = place.flatMap { $0 + 1 < names.count ? String(names[$0 + 1]) : nil }
        continue
      }
      guard isInside, let cut = plain.firstIndex(of: "="), !plain.hasPrefix("#") else { continue }
      let keys = plain[..<cut].split(separator: Character("."))
      let value = plain[plain.index(after: cut)...]
      var dependency = CargoDependency(name: table ?? String(keys.first ?? ""), isShared: isShared)
      let key = table == nil ? keys.dropFirst().first : keys.first
      dependency.path =
        key == "path"
        ? value.split(separator: Character("\"")).first.map(String.init)
        : DetectedKind.paths(in: String(value), after: ["path=\""]).first
      dependency.isInherited =
        key == "workspace" ? value.hasPrefix("true") : value.includes("workspace=true")
      if dependency.path != nil || dependency.isInherited { found.append(dependency) }
    }
    return found
  }
}
