import PathFiltering
import Support
import SystemCalls

// A task with `each` stands for one task in each of its directories.

extension Project {
  /// The project with a task for each directory of a task with `each`: `test:packages/a`. It watches the directory,
  /// and comes after those of the directories on which that depends.
  package func expandingMembers(in directory: Path) -> Project {
    if tasks.allSatisfy(\.each.isEmpty) { return self }
    let root = ProjectDirectory(path: directory)
    var groups: [Group] = []
    var all: [Path] = []
    for task in tasks {
      let members = ProjectMembers.directories(with: task.each, in: root)
      groups.append(Group(task, members: members))
      for place in members where !all.contains(place) { all.append(place) }
    }
    let dependencies = MemberDependencies(all, in: root)
    var project = self
    project.groups = groups.filter { !$0.patterns.isEmpty }
    project.tasks = []
    for (task, group) in zip(tasks, groups) {
      if task.each.isEmpty {
        project.tasks.append(task)
        project.tasks[project.tasks.count - 1].after = Self.names(task.after, in: nil, groups)
      }
      for place in group.members {
        project.tasks.append(task.member(place, of: group, dependencies, groups))
      }
    }
    for index in pages.indices {
      project.pages[index].after = Self.names(pages[index].after, in: nil, groups)
    }
    return project
  }

  /// The tasks that names in `after` stand for: the one in the same directory, if there is one.
  fileprivate static func names(
    _ names: [String], in place: Path?, _ groups: [Group]
  ) -> [String] {
    var found: [String] = []
    for name in names {
      guard let group = groups.first(where: { $0.name == name }), !group.patterns.isEmpty else {
        found.append(name)
        continue
      }
      let isSame = place.map(group.members.contains) ?? false
      for member in group.members where !isSame || member == place {
        found.append(group.name(in: member))
      }
    }
    return found
  }

  /// A task with `each`.
  package struct Group: Hashable, Sendable {
    package let name: String
    package let patterns: [GlobPattern]
    /// Relative to the directory of the project.
    let members: [Path]

    init(_ task: Task, members: [Path]) {
      (name, patterns, self.members) = (task.name, task.each, members)
    }

    func name(in place: Path) -> String { "\(name):\(place)" }

    /// Where nothing matches, in words.
    package var lack: String? {
      guard members.isEmpty else { return nil }
      let texts = patterns.map(\.description).joined(separator: ", ")
      return "\(name): no directory has a file that matches \(texts), so there is nothing to run"
    }
  }

  /// What names the members of workspaces, and their common dependencies.
  private static let workspaceFiles: [Path] = [
    "Cargo.toml", "go.work", "package.json", Path(Workspace.file),
  ]

  /// The directories in which members of its groups may appear.
  package var memberRoots: [Path] { ProjectMembers.roots(of: groups.flatMap(\.patterns)) }

  /// Whether members may be others after a change of a path, relative to the directory of the project.
  package func concernsMembers(_ path: Path, isPresent: Bool) -> Bool {
    Self.workspaceFiles.contains(path)
      || groups.contains { group in
        ProjectMembers.includes(path, group.patterns)
          || !isPresent && group.members.contains { $0.isWithin(path) }
      }
  }
}

extension Project.Task {
  fileprivate func member(
    _ place: Path, of group: Project.Group, _ dependencies: MemberDependencies,
    _ groups: [Project.Group]
  ) -> Project.Task {
    var task = self
    task.name = group.name(in: place)
    task.group = name
    task.directory = place
    task.each = []
    task.after = Project.names(after, in: place, groups)
    // A task in the same directory before it comes after those of its dependencies.
    let isOrdered = after.contains { name in
      groups.contains { $0.name == name && $0.members.contains(place) }
    }
    var added = [place]
    if !isOrdered {
      let before = dependencies.before[place] ?? []
      task.after += before.filter(group.members.contains).map(group.name)
      added += before.filter { !group.members.contains($0) } + (dependencies.others[place] ?? [])
    }
    added += dependencies.around[place] ?? []
    if isManual { return task }
    task.watched = added + watched
    // Directories in this one have tasks of their own, if they are of the same group.
    let inner = group.members.filter { other in
      other != place && (place == "." || other.isWithin(place)) && !added.contains(other)
    }
    task.ignores += inner.compactMap { GlobPattern(only: $0) }
    return task
  }
}
