import Support
import SystemCalls

// Scripting languages.

// MARK: - JavaScript

extension ProjectDetection {
  private static let scriptSources = [
    "*.js", "*.cjs", "*.mjs", "*.jsx", "*.ts", "*.cts", "*.mts", "*.tsx", "*.json", "*.css",
    "*.scss", "*.html", "*.vue", "*.svelte",
  ]
  static let package = "package.json"
  /// Scripts that usually do not end.
  private static let servers = ["dev", "start", "serve", "watch"]

  static let node = ProjectKind(
    name: "node", title: "a Node package", role: .independent, language: "javascript",
    files: [package],
    products: [
      "/dist/", "/build/", "/out/", "/coverage/", "/.next/", "/.nuxt/", "*.tsbuildinfo",
    ],
    sources: scriptSources + [Workspace.file, "pnpm-lock.yaml", "yarn.lock", "bun.lock"],
    dependencyMarks: ["\"file:", "\"link:"],
    findSiblings: { root, member in
      guard let workspace = Workspace(root), workspace.includes(member) else { return [] }
      return workspace.members.filter { other in
        other.json(of: package)?["name"]?.text.map { member.holds([package], with: "\"\($0)\"") }
          ?? false
      }.map(\.path)
    },
    programs: ["npm", "npx", "yarn", "pnpm", "bun", "node", "tsx"],
    wanted: "script 'build' or 'test'", findOthers: otherScripts
  ) { directory, _ in
    let manager = packageManager(directory)
    let steps = ["build", "test"].filter { isRunnable($0, in: directory) }.map {
      Step($0, "\(manager) run \($0)")
    }
    return steps.isEmpty ? workspaceSteps(in: directory, manager) : steps
  }

  static let deno = ProjectKind(
    name: "deno", title: "a Deno project", role: .independent, language: "javascript",
    files: denoFiles, sources: scriptSources + ["*.jsonc"],
    findOthers: otherDenoTasks
  ) { directory, _ in
    func has(_ name: String) -> Bool {
      denoTask(name, in: directory).map { $0.obstacle == nil } ?? false
    }
    let build = has("build") ? [Step("build", "deno task build")] : []
    return build + [Step("test", has("test") ? "deno task test" : "deno test")]
  }

  @Sendable private static func otherDenoTasks(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    let names = directory.json(of: file)?["tasks"]?.members.map(\.key) ?? []
    let obstacle = { name in denoTask(name, in: directory)?.obstacle }
    return offers(
      names.filter { ($0 != "build" && $0 != "test") || obstacle($0) != nil }, "deno task",
      servers: servers, obstacle)
  }

  private static let denoFiles = ["deno.json", "deno.jsonc"]

  /// A task with those that it depends on.
  static func denoTask(_ name: String, in directory: ProjectDirectory) -> Script? {
    let file = directory.first(of: denoFiles)
    guard let task = file.flatMap(directory.json)?["tasks"]?[name] else { return nil }
    let others = task["dependencies"]?.elements.compactMap(\.text) ?? []
    let lines = others.map { "deno task \($0)" } + [task.text ?? task["command"]?.text ?? ""]
    return Script(lines.joined(separator: " && "), in: directory)
  }

  /// The manager that the package names, or else its workspace, which has the lock file, or else the package's
  /// own lock file.
  private static func packageManager(_ directory: ProjectDirectory) -> String {
    func manager(of root: ProjectDirectory) -> String? {
      namedManager(in: root) ?? lockFiles.first { root.holds($0.0) }?.1
    }
    return namedManager(in: directory) ?? Workspace.root(of: directory).flatMap(manager)
      ?? manager(of: directory) ?? "npm"
  }

  private static let lockFiles = [
    ("pnpm-lock.yaml", "pnpm"), (Workspace.file, "pnpm"), ("yarn.lock", "yarn"),
    ("bun.lock", "bun"), ("bun.lockb", "bun"), ("package-lock.json", "npm"),
  ]

  /// The manager that `package.json` names, which corepack requires: `"packageManager": "pnpm@9.1.0"`.
  private static func namedManager(in directory: ProjectDirectory) -> String? {
    let top = directory.json(of: package)
    let values = [top?["packageManager"], top?["devEngines"]?["packageManager"]?["name"]]
    let names = values.compactMap { value in value?.text.map { String($0.prefix { $0 != "@" }) } }
    return names.first(where: ["npm", "pnpm", "yarn", "bun"].contains)
  }

  /// Whether a script is what `npm init` writes for the lack of tests.
  static func isPlaceholder(_ script: String) -> Bool {
    script.includes("no test specified")
  }

  static func scripts(in directory: ProjectDirectory) -> [String: String] {
    let members = directory.json(of: package)?["scripts"]?.members ?? []
    return Dictionary(members.compactMap { member in member.value.text.map { (member.key, $0) } }) {
      $1
    }
  }

  static func script(_ name: String, in directory: ProjectDirectory) -> Script? {
    scripts(in: directory)[name].map { Script($0, in: directory) }
  }

  /// Why a script must not be run by itself, with those that run before and after it.
  private static func obstacle(toScript name: String, in directory: ProjectDirectory) -> String? {
    Script("npm run \(name)", in: directory).obstacle
  }

  /// Whether there is a script of this name that may be run by itself.
  static func isRunnable(_ name: String, in directory: ProjectDirectory) -> Bool {
    script(name, in: directory).map { !isPlaceholder($0.line) } ?? false
      && obstacle(toScript: name, in: directory) == nil
  }

  /// The file that `package.json` names as the main one, if it exists.
  static func mainScript(in directory: ProjectDirectory) -> String? {
    directory.json(of: package)?["main"]?.text.flatMap { directory.holds($0) ? $0 : nil }
  }

  /// The scripts beside those that are run, without those that a manager calls.
  @Sendable private static func otherScripts(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    let usable = scripts(in: directory).filter {
      !isPlaceholder($0.value) && !Script($0.value, in: directory).watchesByItself
    }
    let names = usable.keys.filter { name in
      !["prepare", "install"].contains(name)
        && !(usualNames.contains(name) && obstacle(toScript: name, in: directory) == nil)
        && !["pre", "post"].contains {
          name.hasPrefix($0)
            && (usable[String(name.dropFirst($0.count))] != nil || name == $0 + "install")
        }
    }
    return offers(names.sorted(), "\(packageManager(directory)) run", servers: servers) {
      obstacle(toScript: $0, in: directory)
    }
  }

  /// How to start the scripts that watch by themselves.
  static func watchers(in directory: ProjectDirectory) -> [String] {
    let manager = packageManager(directory)
    return scripts(in: directory).filter { Script($0.value, in: directory).watchesByItself }
      .keys.sorted().map { "\(manager) run \($0)" }
  }

  /// Usual ones that are not run first, then servers, which are restarted; anything else is run again.
  static func offers(
    _ names: [String], _ command: String, servers: [String] = [],
    _ publication: (String) -> String?
  ) -> [ProjectKind.Offer] {
    let first = usualNames + servers
    let ordered =
      first.filter(names.contains)
      + GoalNames.ordered(names.filter { !first.contains($0) })
    return ordered.enumerated().map { index, name in
      let line = "\(command) \(name)"
      let isServer = servers.contains(name)
      var offer = ProjectKind.Offer(name, isServer ? "-r \(line)" : line, shown: line)
      // Those that no message names are never suggested.
      offer.publication = index < mostNames ? publication(name) ?? offer.publication : line
      return offer
    }
  }

  /// The names of what is run by itself.
  static let usualNames = ["build", "all", "test", "check"]

  /// Why nothing was detected although there is a `package.json`; `nil` if its scripts say it.
  static func packageFlaw(_ directory: ProjectDirectory) -> Flaw? {
    guard directory.text(of: package) != nil else { return nil }
    if directory.json(of: package) == nil { return Flaw(reason: "package.json is not valid JSON") }
    let all = scripts(in: directory)
    let watching = ["build", "test"].first { script($0, in: directory)?.watchesByItself == true }
    if let watching {
      return Flaw(
        reason: "the script '\(watching)' in package.json watches by itself, and needs no watchrun")
    }
    guard !all.isEmpty, all.allSatisfy({ isPlaceholder($0.value) }) else { return nil }
    return Flaw(reason: "the script 'test' in package.json is only the placeholder of npm init")
  }
}

// MARK: - Words of other tools

extension ProjectDetection {
  /// The command line after `watchrun` that runs a script, target or recipe of this name; `nil` if
  /// there is none.
  static func commandLine(for name: String, in directory: ProjectDirectory) -> String? {
    if let script = script(name, in: directory), !isPlaceholder(script.line) {
      let isRestarted = servers.contains(name) && !script.watchesByItself
      return (isRestarted ? "-r " : "") + "\(packageManager(directory)) run \(name)"
    }
    if readMakefile(in: directory)?.targets.contains(name) == true { return "make \(name)" }
    return recipeCommand(for: name, in: directory)
  }
}

// MARK: - Python, Ruby and PHP

extension ProjectDetection {
  static let python = ProjectKind(
    name: "python", title: "a Python project", role: .independent,
    files: [
      "pyproject.toml", "pytest.ini", "tox.ini", "setup.py", "manage.py", "requirements.txt",
      "test_*.py", "tests/test_*.py", "noxfile.py",
    ],
    products: ["/build/", "/dist/", "*.egg-info/"],
    sources: ["*.py", "*.pyi", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"],
    programs: [
      "python", "python3", "uv", "poetry", "pdm", "pipenv", "flask", "gunicorn", "uvicorn",
      "celery",
      "pytest", "tox", "nox", "hatch",
    ]
  ) { directory, file in
    if file == "tox.ini", let text = directory.text(of: file), !text.includes("[pytest]") {
      // `tox` runs the commands of all environments.
      let parts = text.split { $0.isNewline || "=\\".contains($0) }
      let mayRun = parts.allSatisfy { Script(String($0), in: directory).obstacle == nil }
      if mayRun { return [Step("test", "tox")] }
    }
    if file == "noxfile.py" {
      // `nox` alone runs all sessions, which may do anything.
      let text = directory.text(of: file) ?? ""
      let session = ["tests", "test"].first { text.includes("def \($0)(") }
      return session.map { [Step("test", "nox -s \($0)")] } ?? []
    }
    if directory.holds(["pyproject.toml"], with: "[tool.hatch.envs.hatch-test") {
      return [Step("test", "hatch test")]
    }
    // The lock file of a workspace of uv is at its root.
    let usesUV =
      directory.holds("uv.lock")
      || directory.ancestors.contains {
        $0.holds("uv.lock") && $0.holds(["pyproject.toml"], with: "[tool.uv.workspace]")
      }
    let manager = usesUV ? "uv" : managers.first { directory.holds($0.lockFile) }?.name
    let environment = manager.map { "\($0) run " } ?? ""
    let usesPytest = directory.holds(
      [
        "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "requirements.txt",
        "requirements-dev.txt", "dev-requirements.txt", "Pipfile", "conftest.py",
      ], with: "pytest")
    if directory.holds("manage.py"), !usesPytest {
      return [Step("test", "\(environment)python3 manage.py test")]
    }
    // Without tests, pytest fails.
    let tests = [
      "pytest.ini", "conftest.py", "test_*.py", "*_test.py", "tests/test_*.py", "tests/*_test.py",
    ]
    // Those beside mere requirements may be of another language.
    let isMeant =
      file != "requirements.txt" && ["tests", "test"].contains { directory.holdsDirectory($0) }
    guard usesPytest || isMeant || directory.first(of: tests) != nil else { return [] }
    return [Step("test", environment.isEmpty ? "python3 -m pytest" : "\(environment)pytest")]
  }

  private static let managers: [(lockFile: String, name: String)] = [
    ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv"),
  ]

  static let php = ProjectKind(
    name: "php", title: "a PHP project", role: .independent,
    files: ["composer.json"] + phpUnitFiles,
    products: [".phpunit.result.cache", "/.phpunit.cache/"],
    sources: ["*.php", "*.twig", "composer.json", "composer.lock", "phpunit.*"],
    programs: ["php", "composer"], wanted: "script 'test'",
    findOthers: { directory, _ in
      let obstacle = composerScript("test", in: directory)?.obstacle
      return obstacle == nil ? [] : offers(["test"], "composer") { _ in obstacle }
    }
  ) { directory, _ in
    if let test = composerScript("test", in: directory), test.obstacle == nil {
      return [Step("test", "composer test")]
    }
    if directory.holds("tests/Pest.php") { return [Step("test", "vendor/bin/pest")] }
    if directory.first(of: phpUnitFiles) == nil { return [] }
    // Symfony has one of its own.
    return [Step("test", directory.holds("bin/phpunit") ? "bin/phpunit" : "vendor/bin/phpunit")]
  }

  /// The lines of a script of `composer.json`, in which `@a` calls another.
  static func composerScript(_ name: String, in directory: ProjectDirectory) -> Script? {
    guard let script = directory.json(of: "composer.json")?["scripts"]?[name] else { return nil }
    let lines = (script.text.map { [$0] } ?? script.elements.compactMap(\.text)).map { line in
      if !line.hasPrefix("@") { return line }
      let isProgram = line.hasPrefix("@php ") || line.hasPrefix("@composer ")
      return (isProgram ? "" : "composer ") + String(line.dropFirst())
    }
    return Script(lines.joined(separator: " && "), in: directory)
  }

  private static let phpUnitFiles = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]

  static let ruby = ProjectKind(
    name: "ruby", title: "a Ruby project", role: .independent,
    files: ["Rakefile", "rakefile", "Gemfile"],
    products: ["/coverage/", "/log/", "/pkg/", "/tmp/"],
    sources: ["*.rb", "*.rake", "*.erb", "*.gemspec", "Rakefile", "Gemfile", "Gemfile.lock"],
    programs: ["ruby", "bundle", "rails", "rake", "puma", "sidekiq"]
  ) { directory, file in
    let bundle = directory.holds("Gemfile") ? "bundle exec " : ""
    if directory.holds(".rspec") { return [Step("test", "\(bundle)rspec")] }
    if directory.holds("bin/rails") { return [Step("test", "bin/rails test")] }
    guard file != "Gemfile", let text = directory.text(of: file) else { return [] }
    let symbols = text.split { !$0.isLetter && !$0.isNumber && !"_:".contains($0) }
    for (name, library) in [("spec", "RSpec"), ("test", "TestTask")] {
      let before = prerequisites(of: name, in: text)
      let isDefined = text.includes(library) || symbols.contains(":\(name)") || !before.isEmpty
      if isDefined, !before.contains(where: GoalNames.publishes) {
        return [Step("test", "\(bundle)rake \(name)")]
      }
    }
    // `rake` alone runs the default task, which may do anything.
    let names = prerequisites(of: "default", in: text)
    let isUsual = !names.isEmpty && names.allSatisfy { ["build", "compile", "check"].contains($0) }
    return isUsual ? [Step("build", "\(bundle)rake")] : []
  }

  /// The tasks that a task of a Rakefile depends on: `task default: [:a, :b]`.
  private static func prerequisites(of task: String, in rakefile: String) -> [String] {
    for line in rakefile.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      guard words.starts(with: ["task", task[...]]) else { continue }
      return words.dropFirst(2).filter { $0 != "w" && $0 != "i" && $0 != "do" }.map(String.init)
    }
    return []
  }
}
