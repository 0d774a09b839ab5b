import Support

// Scripting languages.

// MARK: - JavaScript

extension ProjectDetection {
  private static let scriptSources = [
    "*.js", "*.cjs", "*.mjs", "*.jsx", "*.ts", "*.cts", "*.mts", "*.tsx", "*.json", "*.css",
    "*.scss", "*.html", "*.vue", "*.svelte",
  ]
  private static let package = "package.json"
  /// Scripts that usually do not end.
  private static let servers = ["dev", "start", "serve", "watch"]

  static let node = ProjectKind(
    name: "node", title: "a Node package", role: .independent, language: "javascript",
    files: [package],
    products: [
      "/dist/", "/build/", "/out/", "/coverage/", "/.next/", "/.nuxt/", "*.tsbuildinfo",
    ],
    sources: scriptSources
  ) { directory, _ in
    let manager = packageManager(directory)
    let scripts = scripts(in: directory.text(of: package) ?? "")
    return ["build", "test"].filter { scripts[$0].map { !isPlaceholder($0) } ?? false }
      .map { Step($0, "\(manager) run \($0)") }
  }

  static let deno = ProjectKind(
    name: "deno", title: "a Deno project", role: .independent, language: "javascript",
    files: ["deno.json", "deno.jsonc"], sources: scriptSources + ["*.jsonc"]
  ) { directory, file in
    let tasks = members("tasks", in: directory.text(of: file) ?? "")
    let build = tasks.contains("build") ? [Step("build", "deno task build")] : []
    return build + [Step("test", tasks.contains("test") ? "deno task test" : "deno test")]
  }

  private static func packageManager(_ directory: ProjectDirectory) -> String {
    let lockFiles = [
      ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"),
      ("bun.lockb", "bun"),
    ]
    return lockFiles.first { directory.holds($0.0) }?.1 ?? "npm"
  }

  /// Whether a script is what `npm init` writes for the lack of tests.
  private static func isPlaceholder(_ script: String) -> Bool {
    script.includes("no test specified")
  }

  private static func scripts(in package: String) -> [String: String] {
    let members = (try? JSONValue(parsing: Array(package.utf8)))?["scripts"]?.members ?? []
    let scripts = members.compactMap { member in
      if case .string(let line) = member.value.content { (member.key, line) } else { nil }
    }
    return Dictionary(scripts) { _, last in last }
  }

  private static func members(_ key: String, in text: String) -> [String] {
    (try? JSONValue(parsing: Array(text.utf8)))?[key]?.members.map(\.key) ?? []
  }

  /// Why nothing was detected although there is a `package.json`, and what to run instead.
  static func packageFlaw(_ directory: ProjectDirectory) -> Flaw? {
    guard let text = directory.text(of: package) else { return nil }
    if (try? JSONValue(parsing: Array(text.utf8))) == nil {
      return Flaw(reason: "package.json is not valid JSON")
    }
    let all = scripts(in: text)
    let usable = all.filter { !isPlaceholder($0.value) }
    if usable.isEmpty && !all.isEmpty {
      return Flaw(reason: "the script 'test' in package.json is only the placeholder of npm init")
    }
    let servers = servers.filter { usable[$0] != nil }
    let others = usable.keys.filter { !servers.contains($0) }.sorted()
    let manager = packageManager(directory)
    return Flaw(
      in: package, lacking: "script 'build' or 'test'", has: servers + others,
      // A server is restarted; anything else is run again.
      command: servers.isEmpty ? "\(manager) run" : "-r \(manager) run")
  }
}

// MARK: - Files without a usual task

extension ProjectDetection {
  /// Why nothing was detected, and what to type instead.
  struct Flaw {
    let reason: String
    var remedy: String?

    init(reason: String) { self.reason = reason }

    /// A file has other entries than those that are looked for; the first is suggested.
    init(in file: String, lacking what: String, has others: [String], command: String) {
      guard let first = others.first else {
        reason = "\(file) has no \(what)"
        return
      }
      let names = others.prefix(Self.mostNames).map { "'\($0)'" }.joined(separator: ", ")
      let more = others.count > Self.mostNames ? ", …" : ""
      reason = "\(file) has no \(what), but \(names)\(more)"
      remedy = "watchrun \(command) \(first)"
    }

    private static let mostNames = 8
  }

  /// The flaw of the first file that is known and has no usual task.
  static func flaw(_ directory: ProjectDirectory) -> Flaw? {
    packageFlaw(directory) ?? justFlaw(directory)
  }
}

// MARK: - Words of other tools

extension ProjectDetection {
  /// The command line after `watchrun` that runs a script, target or recipe of this name; `nil` if
  /// there is none.
  static func commandLine(for name: String, in directory: ProjectDirectory) -> String? {
    let scripts = directory.text(of: package).map(scripts) ?? [:]
    if scripts[name] != nil {
      return (servers.contains(name) ? "-r " : "") + "\(packageManager(directory)) run \(name)"
    }
    if makeTargets(in: directory).contains(name) { return "make \(name)" }
    let recipes = directory.first(of: justfile.files).flatMap(directory.text).map(recipes) ?? []
    return recipes.contains(name) ? "just \(name)" : nil
  }
}

// MARK: - Python and Ruby

extension ProjectDetection {
  static let python = ProjectKind(
    name: "python", title: "a Python project", role: .independent,
    files: ["pyproject.toml", "pytest.ini", "tox.ini", "setup.py"],
    products: ["/build/", "/dist/", "*.egg-info/"],
    sources: ["*.py", "*.pyi", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"]
  ) { directory, file in
    if file == "tox.ini", let text = directory.text(of: file), !text.includes("[pytest]") {
      return [Step("test", "tox")]
    }
    let runner =
      directory.holds("uv.lock")
      ? "uv run" : directory.holds("poetry.lock") ? "poetry run" : "python3 -m"
    return [Step("test", "\(runner) pytest")]
  }

  static let ruby = ProjectKind(
    name: "ruby", title: "a Ruby project", role: .independent,
    files: ["Rakefile", "rakefile", "Gemfile"],
    products: ["/coverage/", "/log/", "/pkg/", "/tmp/"],
    sources: ["*.rb", "*.rake", "*.erb", "*.gemspec", "Rakefile", "Gemfile", "Gemfile.lock"]
  ) { directory, file in
    let bundle = directory.holds("Gemfile") ? "bundle exec " : ""
    if directory.holds(".rspec") { return [Step("test", "\(bundle)rspec")] }
    if directory.holds("bin/rails") { return [Step("test", "bin/rails test")] }
    guard file != "Gemfile", let text = directory.text(of: file) else { return [] }
    if text.includes("RSpec") || text.includes(":spec") {
      return [Step("test", "\(bundle)rake spec")]
    }
    let hasTests = text.includes("TestTask") || text.includes(":test")
    return hasTests
      ? [Step("test", "\(bundle)rake test")] : [Step("build", "\(bundle)rake")]
  }
}
