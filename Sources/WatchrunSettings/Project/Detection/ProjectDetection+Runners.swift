import Support

// Files with recipes or processes, and directories of pages.

// MARK: - Just and Task

extension ProjectDetection {
  private static let justfiles = ["justfile", "Justfile", ".justfile"]
  private static let taskfiles = [
    "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml",
    "Taskfile.dist.yaml",
  ]

  static let justfile = runner("just", justfiles, lacking: "recipe") { Justfile($0).recipes }

  static let taskfile = runner("task", taskfiles, lacking: "task", read: taskRecipes)

  /// A tool that runs the recipes of its files.
  private static func runner(
    _ tool: String, _ files: [String], lacking what: String,
    read: @escaping @Sendable (_ text: String) -> [Justfile.Recipe]
  ) -> ProjectKind {
    let steps: @Sendable ([Justfile.Recipe], ProjectDirectory) -> [Step] = { recipes, directory in
      let names = recipes.filter { recipe in
        !recipe.needsArguments && usualNames.contains(recipe.name)
          && recipes.obstacle(to: recipe.name, by: tool, in: directory) == nil
      }.map(\.name)
      let test = ["test", "check"].first(where: names.contains)
      return (names.contains("build") ? [Step("build", "\(tool) build")] : [])
        + (test.map { [Step("test", "\(tool) \($0)")] } ?? [])
    }
    return ProjectKind(
      name: tool, role: .runner, files: files, wanted: "\(what) 'build' or 'test'",
      findOthers: { directory, file in
        let recipes = read(directory.text(of: file) ?? "")
        let used = steps(recipes, directory).map(\.line)
        let names = recipes.filter {
          !$0.needsArguments && !$0.isPrivate && !used.contains("\(tool) \($0.name)")
        }.map(\.name)
        return offers(names, tool) { recipes.obstacle(to: $0, by: tool, in: directory) }
      }
    ) { directory, file in
      steps(read(directory.text(of: file) ?? ""), directory)
    }
  }

  /// The command that runs a recipe of this name; `nil` if there is none.
  static func recipeCommand(for name: String, in directory: ProjectDirectory) -> String? {
    func has(_ files: [String], _ read: (String) -> [Justfile.Recipe]) -> Bool {
      let text = directory.first(of: files).flatMap(directory.text)
      return text.map(read)?.contains { $0.name == name } ?? false
    }
    if has(justfiles, { Justfile($0).recipes }) { return "just \(name)" }
    return has(taskfiles, taskRecipes) ? "task \(name)" : nil
  }

  /// The keys below `tasks:`, which are indented like the first of them.
  @Sendable private static func taskRecipes(in text: String) -> [Justfile.Recipe] {
    var recipes: [Justfile.Recipe] = []
    var isInside = false
    var indent: Int?
    // Where a text begins whose lines are one: `cmd: >-`.
    var folded = Int.max
    for line in text.logicalLines {
      let depth = line.prefix { $0 == " " }.count
      let rest = line.dropFirst(depth)
      if rest.isEmpty || rest.first == "#" { continue }
      if depth > folded, let last = recipes.last?.lines.indices.last {
        recipes[recipes.count - 1].lines[last] += " " + rest
        continue
      }
      folded = [">", ">-", ">+"].contains { rest.hasSuffix($0) } ? depth : Int.max
      if depth == 0 { isInside = line.hasPrefix("tasks:") }
      guard isInside, depth > 0, depth == indent ?? depth else {
        if isInside, !recipes.isEmpty { recipes[recipes.count - 1].addTaskLine(rest) }
        continue
      }
      indent = depth
      // A colon within a name, as in `docs:serve`, is followed by more of it.
      let parts = rest.split(separator: Character(" "), maxSplits: 1)
      guard let key = parts.first, key.last == ":" else { continue }
      let name = key.dropLast().filter { !"'\"".contains($0) }
      recipes.append(Justfile.Recipe(name: name, needsArguments: name.contains("*")))
      if parts.count > 1 { recipes[recipes.count - 1].addTaskLine(parts[1]) }
    }
    return recipes
  }
}

extension Justfile.Recipe {
  /// Adds a line of a task: `deps: [a]`, `- task: a`, `- cmd: x`, `- x`.
  fileprivate mutating func addTaskLine(_ line: Substring) {
    var rest = line.drop { " -[{".contains($0) }
    // It is only for other tasks, or never ends.
    let isFlow = line.first == "{"
    let isOther = ["internal: true", "watch: true"].contains { key in
      isFlow ? rest.includes(key) : rest.hasPrefix(key)
    }
    if isOther {
      needsArguments = true
    } else if rest.hasPrefix("deps:") || rest.hasPrefix("task:") {
      dependencies += Self.names(in: rest)
    } else {
      for key in ["cmds:", "cmd:"] where rest.hasPrefix(key) { rest = rest.dropFirst(key.count) }
      rest = rest.drop { " -[{'\">|+".contains($0) }
      lines.append(String(rest))
      // An item of `deps`.
      if !rest.contains(" ") { dependencies.append(String(rest)) }
    }
  }
}

// MARK: - Procfile

extension ProjectDetection {
  static let procfile = ProjectKind(
    name: "procfile", role: .runner,
    // The one for development is preferred to the one for deployment.
    files: ["Procfile.dev", "Procfile"],
    products: ProcessFile.products,
    wanted: "process that is a service", findOthers: oneTimeProcesses
  ) { directory, file in
    ProcessFile.tasks(in: directory.text(of: file) ?? "", of: directory)
  }

  @Sendable private static func oneTimeProcesses(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    ProcessFile.processes(in: directory.text(of: file) ?? "").filter {
      GoalNames.isOneTime($0.name)
    }.map {
      .init($0.name, ShellWords.quoted($0.line.word), shown: $0.name)
    }
  }
}

// MARK: - Pages

// Where there is anything else, they are its documentation. A site is made in a directory that is ignored anyway: that
// of the configuration is published, and some tools delete what else is in it.
extension ProjectDetection {
  /// Absolute links would lead to the published site.
  static let hugo = ProjectKind(
    name: "hugo", title: "a Hugo site", role: .runner,
    files: ["hugo.toml", "hugo.yaml", "hugo.json", "config.toml"],
    products: ["/public/", "/resources/", ".hugo_build.lock"], page: ".build/hugo"
  ) { directory, file in
    // The old name of its file is also one of other tools, such as Zola.
    if file == "config.toml"
      && (!directory.holdsDirectory("content") || directory.holds([file], with: "base_url"))
    {
      return []
    }
    return [Step("build", "hugo --baseURL / -d .build/hugo")]
  }

  static let mkdocs = ProjectKind(
    name: "mkdocs", title: "an MkDocs site", role: .runner, files: ["mkdocs.yml", "mkdocs.yaml"],
    page: ".build/mkdocs"
  ) { _, _ in
    [Step("build", "mkdocs build -q -d .build/mkdocs")]
  }

  static let jekyll = ProjectKind(
    name: "jekyll", title: "a Jekyll site", role: .runner, files: ["_config.yml"],
    products: ["/_site/", ".jekyll-cache/"], page: ".build/jekyll"
  ) { directory, _ in
    // Jupyter Book has a file of the same name.
    if directory.holds("_toc.yml") { return [] }
    let bundle = directory.holds("Gemfile") ? "bundle exec " : ""
    return [Step("build", "\(bundle)jekyll build -q -d .build/jekyll")]
  }

  static let site = ProjectKind(
    name: "site", title: "a page", role: .runner, files: ["index.html"], page: "."
  ) { _, _ in [] }
}

extension ProjectDetection.Script {
  private static let pageMakers = words(
    """
    @11ty/eleventy astro docusaurus eleventy gatsby hexo hugo jekyll marp mdbook mkdocs pandoc
    quarto slidev sphinx-build vitepress vuepress
    """)

  /// Whether it starts a program that makes pages of Markdown.
  var makesPages: Bool {
    var followed: Set<String> = []
    let found = find(&followed) { words, _ in
      words.first { Self.pageMakers.contains(Self.name(of: $0)) }
    }
    return found != nil
  }
}
