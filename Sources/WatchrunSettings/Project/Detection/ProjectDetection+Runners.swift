import Support

// Files with recipes or processes.

// MARK: - Just and Task

extension ProjectDetection {
  private static let justfiles = ["justfile", "Justfile", ".justfile"]
  private static let taskfiles = [
    "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml",
    "Taskfile.dist.yaml",
  ]

  static let justfile = runner("just", justfiles, lacking: "recipe") { text in
    let recipes = Justfile(text).recipes.filter { !$0.needsArguments }
    return (recipes.map(\.name), recipes.filter { !$0.isPrivate }.map(\.name))
  }

  static let taskfile = runner("task", taskfiles, lacking: "task") { text in
    let names = taskNames(in: text)
    return (names, names)
  }

  /// A tool that runs what its files name.
  ///
  /// - Parameter goals: The names in a text that can be run, and those of them that are offered.
  private static func runner(
    _ tool: String, _ files: [String], lacking what: String,
    goals: @escaping @Sendable (_ text: String) -> (all: [String], offered: [String])
  ) -> ProjectKind {
    let steps: @Sendable ([String]) -> [Step] = { names in
      let test = ["test", "check"].first(where: names.contains)
      return (names.contains("build") ? [Step("build", "\(tool) build")] : [])
        + (test.map { [Step("test", "\(tool) \($0)")] } ?? [])
    }
    return ProjectKind(
      name: tool, role: .runner, files: files, wanted: "\(what) 'build' or 'test'",
      findOthers: { directory, file in
        let (all, offered) = goals(directory.text(of: file) ?? "")
        let used = steps(all).map(\.run)
        return GoalNames.ordered(offered).map { .init($0, "\(tool) \($0)") }.filter {
          !used.contains($0.command)
        }
      }
    ) { directory, file in
      steps(goals(directory.text(of: file) ?? "").all)
    }
  }

  static func readJustfile(in directory: ProjectDirectory) -> Justfile? {
    directory.first(of: justfiles).flatMap(directory.text).map { Justfile($0) }
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
      guard isInside, depth > 0, depth == indent ?? depth else {
        // It is only for other tasks.
        if isInside, rest.hasPrefix("internal: true"), !names.isEmpty { names.removeLast() }
        continue
      }
      indent = depth
      // A colon within a name, as in `docs:serve`, is followed by more of it.
      let parts = rest.split(separator: Character(" "), maxSplits: 1)
      guard let key = parts.first, key.last == ":" else { continue }
      let name = key.dropLast().filter { !"'\"".contains($0) }
      if !name.contains("*") { names.append(name) }
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
    products: ProcessFile.products,
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
