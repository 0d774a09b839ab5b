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

// MARK: - Procfile

extension ProjectDetection {
  static let procfile = ProjectKind(
    name: "procfile", role: .runner,
    // The one for development is preferred to the one for deployment.
    files: ["Procfile.dev", "Procfile"], usualFile: "Procfile",
    wanted: "process that is a service", findOthers: oneTimeProcesses
  ) { directory, file in
    processes(in: directory.text(of: file) ?? "").filter { !GoalNames.isOneTime($0.name) }
  }

  @Sendable private static func oneTimeProcesses(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    processes(in: directory.text(of: file) ?? "").filter { GoalNames.isOneTime($0.name) }.map {
      .init($0.name, ShellWords.quoted(Array($0.run.utf8)), shown: $0.name)
    }
  }

  /// The processes of a Procfile, as services.
  static func processes(in text: String) -> [Step] {
    var known: Set<String> = []
    return text.split(whereSeparator: \.isNewline).compactMap { (line: Substring) -> Step? in
      guard let colon = line.firstIndex(of: ":"), line.first != "#", line.first != "-" else {
        return nil
      }
      let name = String(line[..<colon])
      let command = line[colon...].dropFirst().drop { $0.isWhitespace }
      guard !name.isEmpty, name.utf8.allSatisfy({ JSONParser.isNameByte($0) || $0 == 0x2D }),
        !command.isEmpty, known.insert(name).inserted
      else { return nil }
      var step = Step(name, String(command))
      step.isService = true
      return step
    }
  }
}
