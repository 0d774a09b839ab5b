import PathFiltering
import SystemCalls

// A task with `each` stands for one task in each of its directories.

extension Project {
  /// The project with a task for each directory of a task with `each`: `test:packages/a`. It watches the directory,
  /// and comes after those of the directories on which that depends.
  package func expandingMembers(in directory: Path) -> Project {
    if tasks.allSatisfy(\.each.isEmpty) { return self }
    let root = ProjectDirectory(path: directory)
    let members = tasks.map { ProjectMembers.directories(with: $0.each, in: root) }
    var known: Set<Path> = []
    let all = members.joined().filter { known.insert($0).inserted }
    let dependencies = MemberDependencies(Array(all), in: root)
    let groups = zip(tasks, members).map { Group($0, members: $1) }
    var project = self
    project.groups = groups.filter { !$0.patterns.isEmpty }
    project.tasks = tasks.indices.flatMap { index -> [Task] in
      if tasks[index].each.isEmpty {
        var task = tasks[index]
        task.after = task.after.flatMap { Self.names($0, in: nil, groups) }
        return [task]
      }
      return members[index].map { place in
        tasks[index].member(place, of: groups[index], dependencies, groups)
      }
    }
    for index in pages.indices {
      project.pages[index].after = pages[index].after.flatMap { Self.names($0, in: nil, groups) }
    }
    return project
  }

  /// The tasks that a name in `after` stands for: the one in the same directory, if there is one.
  fileprivate static func names(_ name: String, in place: Path?, _ groups: [Group]) -> [String] {
    guard let group = groups.first(where: { $0.name == name }), !group.patterns.isEmpty else {
      return [name]
    }
    if let place, group.members.contains(place) { return [group.name(in: place)] }
    return group.members.map(group.name)
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

  /// The directories in which members of its groups may appear.
  package var memberRoots: [Path] { ProjectMembers.roots(of: groups.flatMap(\.patterns)) }

  /// Whether members may be others after a change of a path, relative to the directory of the project.
  package func concernsMembers(_ path: Path, isPresent: Bool) -> Bool {
    groups.contains { group in
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
    task.after = after.flatMap { Project.names($0, in: place, groups) }
    // A task in the same directory before it comes after those of its dependencies.
    let isOrdered = after.contains { name in
      groups.contains { $0.name == name && $0.members.contains(place) }
    }
    var added = [place]
    if !isOrdered {
      let before = dependencies.before(place)
      task.after += before.filter(group.members.contains).map(group.name)
      added += before.filter { !group.members.contains($0) }
    }
    added += dependencies.around(place)
    if isManual { return task }
    task.watched = added + watched
    // Members in a member have tasks of their own.
    let inner = dependencies.members.filter { other in
      other != place && (place == "." || other.isWithin(place)) && !added.contains(other)
    }
    task.ignores += inner.compactMap { GlobPattern(only: $0) }
    return task
  }
}

extension [String] {
  /// The tasks that a name stands for: the one of that name, or those of its directories, such as `test:packages/a`.
  package func tasks(namedBy name: String) -> [String] {
    contains(name) ? [name] : filter { $0.hasPrefix(name + ":") }
  }
}
