import Support

// Files with recipes or processes.

// MARK: - Just

extension ProjectDetection {
  private static let justfiles = ["justfile", "Justfile", ".justfile"]

  static let justfile = ProjectKind(
    name: "just", role: .runner, files: justfiles, wanted: "recipe 'build' or 'test'",
    findOthers: otherRecipes
  ) { directory, file in
    justSteps(Justfile(directory.text(of: file) ?? ""))
  }

  private static func justSteps(_ justfile: Justfile) -> [Step] {
    let recipes = justfile.recipes.filter { !$0.needsArguments }.map(\.name)
    let test = ["test", "check"].first(where: recipes.contains)
    return (recipes.contains("build") ? [Step("build", "just build")] : [])
      + (test.map { [Step("test", "just \($0)")] } ?? [])
  }

  @Sendable private static func otherRecipes(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    let justfile = Justfile(directory.text(of: file) ?? "")
    let used = justSteps(justfile).map(\.run)
    let names = justfile.recipes.filter { !$0.isPrivate && !$0.needsArguments }.map(\.name)
    return GoalNames.ordered(names).map { .init($0, "just \($0)") }.filter {
      !used.contains($0.command)
    }
  }

  static func readJustfile(in directory: ProjectDirectory) -> Justfile? {
    directory.first(of: justfiles).flatMap(directory.text).map { Justfile($0) }
  }
}

// MARK: - Task

extension ProjectDetection {
  private static let taskfiles = ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]

  static let taskfile = ProjectKind(
    name: "task", role: .runner, files: taskfiles, wanted: "task 'build' or 'test'",
    findOthers: otherTasks
  ) { directory, file in
    taskSteps(taskNames(in: directory.text(of: file) ?? ""))
  }

  private static func taskSteps(_ names: [String]) -> [Step] {
    let test = ["test", "check"].first(where: names.contains)
    return (names.contains("build") ? [Step("build", "task build")] : [])
      + (test.map { [Step("test", "task \($0)")] } ?? [])
  }

  @Sendable private static func otherTasks(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    let names = taskNames(in: directory.text(of: file) ?? "")
    let used = taskSteps(names).map(\.run)
    return GoalNames.ordered(names).map { .init($0, "task \($0)") }.filter {
      !used.contains($0.command)
    }
  }

  static func readTaskfile(in directory: ProjectDirectory) -> [String] {
    directory.first(of: taskfiles).flatMap(directory.text).map(taskNames) ?? []
  }

  /// The keys below `tasks:`, which are indented like the first of them.
  private static func taskNames(in text: String) -> [String] {
    var names: [String] = []
    var isInside = false
    var indent: Int?
    for line in text.split(whereSeparator: \.isNewline) {
      let depth = line.prefix { $0 == " " }.count
      let rest = line.dropFirst(depth)
      if rest.isEmpty || rest.first == "#" { continue }
      if depth == 0 { isInside = line.hasPrefix("tasks:") }
      guard isInside, depth > 0, depth == indent ?? depth else { continue }
      indent = depth
      let name = rest.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) }
      if !name.isEmpty, rest.dropFirst(name.count).first == ":" { names.append(String(name)) }
    }
    return names
  }
}

// MARK: - Procfile

extension ProjectDetection {
  static let procfile = ProjectKind(
    name: "procfile", role: .runner,
    // The one for development is preferred to the one for deployment.
    files: ["Procfile.dev", "Procfile"], usualFile: "Procfile",
    wanted: "process that is a service", findOthers: oneTimeProcesses
  ) { directory, file in
    ProcessFile.steps(in: directory.text(of: file) ?? "", of: directory)
  }

  @Sendable private static func oneTimeProcesses(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    ProcessFile.processes(in: directory.text(of: file) ?? "").filter {
      GoalNames.isOneTime($0.name)
    }.map {
      .init($0.name, ShellWords.quoted(Array($0.run.utf8)), shown: $0.name)
    }
  }
}
