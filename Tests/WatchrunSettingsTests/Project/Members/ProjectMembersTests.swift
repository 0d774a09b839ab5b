import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

struct ProjectMembersTests {
  private func directories(_ patterns: String..., in files: [String: String]) throws -> [String] {
    let directory = try projectDirectory(files)
    let parsed = try patterns.flatMap { try GlobPattern.parse(Array($0.utf8)) }
    return ProjectMembers.directories(with: parsed, in: directory.project).map(\.description)
  }

  private static let files = [
    "package.json": "{}", "a/package.json": "{}", "b/package.json": "{}", "b/c/package.json": "{}",
    "d/": "", "node_modules/x/package.json": "{}", "a/node_modules/y/package.json": "{}",
    ".cache/z/package.json": "{}",
  ]

  @Test func `a task runs in the directories whose files match`() throws {
    #expect(try directories("*/package.json", in: Self.files) == ["a", "b"])
    #expect(try directories("b/*/package.json", in: Self.files) == ["b/c"])
    #expect(try directories("{a,b}/package.json", in: Self.files) == ["a", "b"])
    #expect(try directories("**/package.json", in: Self.files) == [".", "a", "b", "b/c"])
    #expect(try directories("package.json", in: Self.files) == [".", "a", "b", "b/c"])
    #expect(try directories("/package.json", in: Self.files) == ["."])
    #expect(try directories("b/package.json", "*/p*.json", in: Self.files) == ["b", "a"])
    #expect(try directories("package.json", "!b/**", in: Self.files) == [".", "a"])
    #expect(try directories("*/x", in: ["a\u{1B}[1m/x": "", "b c/x": ""]) == ["b c"])
    #expect(try directories("x/*/package.json", "*/Cargo.toml", in: Self.files) == [])
  }

  @Test func `the mere root of a workspace is none of its members`() throws {
    let node = ["package.json": #"{"workspaces": ["a"]}"#, "a/package.json": "{}"]
    #expect(try directories("package.json", in: node) == ["a"])
    let cargo = ["Cargo.toml": "[workspace]\nmembers = ['a']", "a/Cargo.toml": ""]
    #expect(try directories("Cargo.toml", in: cargo) == ["a"])
    let package = cargo.merging(["Cargo.toml": "[package]\n[workspace]"]) { $1 }
    #expect(try directories("Cargo.toml", in: package) == [".", "a"])
  }

  // MARK: - Dependencies

  private static let node = [
    "core/package.json": #"{"name": "@x/core"}"#,
    "ui/package.json": #"{"name": "ui", "devDependencies": {"@x/core": "*"}}"#,
    "app/package.json": #"{"dependencies": {"ui": "workspace:*", "left-pad": "1"}}"#,
    "tool/package.json": #"{"dependencies": {"c": "file:../core"}, "keywords": ["ui"]}"#,
  ]
  private static let cargo = [
    "Cargo.toml": """
    [workspace.package]
    version = "1.0.0"
    [workspace.dependencies]
    core = { path = "core", version = "1" }
    serde = "1"
    """,
    "core/Cargo.toml": "[package]\nname = 'core'\nversion.workspace = true\n",
    "ui/Cargo.toml": "[package]\nversion.workspace = true\n[dependencies]\ncore.workspace = true\n",
    "app/Cargo.toml": "[dependencies.ui]\npath = \"../ui\"\n[lib]\npath = \"../tool\"\n",
    "tool/Cargo.toml": """
    [target.'cfg(unix)'.dev-dependencies]
    serde = { workspace = true }
    core = { workspace = true, features = ["x"] }
    """,
  ]
  private static let go = [
    "core/go.mod": "module example.com/core\n",
    "ui/go.mod": "module ui\nrequire example.com/core v0",
    "app/go.mod": "module app\n\nrequire (\n\tui v0.0.0 // indirect\n)\nreplace ui => ../ui\n",
    "tool/go.mod": "module tool\nrequire example.com/core v0\n",
  ]

  @Test(arguments: [node, cargo, go])
  func `a directory depends on those that its manifest names`(_ files: [String: String]) throws {
    let directory = try projectDirectory(files)
    let dependencies = MemberDependencies(["app", "core", "tool", "ui"], in: directory.project)
    let found = dependencies.members.map { dependencies.before[$0, default: []] }
    #expect(found == [["ui"], [], ["core"], ["core"]])
    #expect(dependencies.members.allSatisfy { dependencies.around[$0, default: []].isEmpty })
  }

  @Test func `of a cycle, the last dependency is none that comes before`() throws {
    let directory = try projectDirectory([
      "a/package.json": #"{"name": "a", "dependencies": {"b": "*"}}"#,
      "b/package.json": #"{"name": "b", "dependencies": {"c": "*"}}"#,
      "c/package.json": #"{"name": "c", "devDependencies": {"a": "*"}}"#,
    ])
    let dependencies = MemberDependencies(["a", "b", "c"], in: directory.project)
    #expect(
      dependencies.members.map { dependencies.before[$0, default: []] } == [["b"], ["c"], []])
    #expect(dependencies.members.map { dependencies.around[$0, default: []] } == [[], [], ["a"]])
  }

  // MARK: - Tasks

  private func list(_ tasks: String, _ files: [String: String]) throws -> [String] {
    let directory = try projectDirectory(files)
    return try readProject("{ tasks: { \(tasks) } }").expandingMembers(in: directory.path).tasks
      .map { task in
        "\(task.name) in \(task.directory ?? "-"): \(task.watched.map(\.description)) "
          + "\(task.ignores.map(\.description)) \(task.after)"
      }
  }

  @Test func `a task for each directory comes after those of its dependencies`() throws {
    #expect(
      try list("test: { run: 'x', each: '*/package.json', watch: 'x.json' }", Self.node) == [
        #"test:app in app: ["app", "x.json"] [] ["test:ui"]"#,
        #"test:core in core: ["core", "x.json"] [] []"#,
        #"test:tool in tool: ["tool", "x.json"] [] ["test:core"]"#,
        #"test:ui in ui: ["ui", "x.json"] [] ["test:core"]"#,
      ])
  }

  @Test func `it comes after the task in its directory, and others after all`() throws {
    #expect(
      try list(
        """
        gen: { run: 'x' }, build: { run: 'x', each: '{core,ui}/package.json', after: 'gen' },
        test: { run: 'x', each: '{app,ui}/package.json', after: 'build' },
        all: { run: 'x', after: ['test', 'gen'] }, none: { run: 'x', each: 'y' }
        """, Self.node) == [
          #"gen in -: ["."] [] []"#,
          #"build:core in core: ["core"] [] ["gen"]"#,
          #"build:ui in ui: ["ui"] [] ["gen", "build:core"]"#,
          #"test:app in app: ["app"] [] ["build:core", "build:ui", "test:ui"]"#,
          #"test:ui in ui: ["ui"] [] ["build:ui"]"#,
          #"all in -: [] [] ["test:app", "test:ui", "gen"]"#,
        ])
  }

  @Test func `a change in an inner directory is one of its own task only`() throws {
    #expect(
      try list(
        "t: { run: 'x', each: 'go.mod' }", ["go.mod": "module r", "a/go.mod": "", "a/b/go.mod": ""])
        == [
          #"t:. in .: ["."] ["/a", "/a/b"] []"#, #"t:a in a: ["a"] ["/a/b"] []"#,
          #"t:a/b in a/b: ["a/b"] [] []"#,
        ])
  }

  @Test func `directories without a match are named, and changes of files that match are known`()
    throws
  {
    let directory = try projectDirectory(Self.node)
    let text =
      "{ tasks: { t: { run: 'x', each: '*/package.json' }, u: { run: 'x', each: 'y/*' } } }"
    let project = try readProject(text).expandingMembers(in: directory.path)
    #expect(
      project.groups.compactMap(\.lack) == [
        "u: no directory has a file that matches y/*, so there is nothing to run"
      ])
    #expect(project.memberRoots == [".", "y"])
    #expect(project.concernsMembers("new/package.json", isPresent: true))
    #expect(project.concernsMembers("ui", isPresent: false))
    #expect(project.concernsMembers("pnpm-workspace.yaml", isPresent: true))
    #expect(!project.concernsMembers("ui", isPresent: true))
    #expect(!project.concernsMembers("ui/x.js", isPresent: false))
    #expect(throws: Failure.self) { try project.selecting(["u"]) }
    let selected = try project.selecting(["t"])
    #expect(selected.names == ["t:app", "t:core", "t:tool", "t:ui"])
    #expect(try project.selecting(["t:tool"]).names == ["t:core", "t:tool"])
  }

  @Test func `a path that is named starts the tasks of its directory only`() throws {
    let directory = try projectDirectory(Self.node)
    let text = "{ tasks: { t: { run: 'x', each: '*/package.json', watch: 'x' }, u: { run: 'y' } } }"
    let project = try readProject(text).expandingMembers(in: directory.path)
    func watched(_ words: String...) throws -> [[Path]] {
      let settings = try OptionParser.parse(words.map(\.word))
      return project.overridden(by: settings, in: directory.path).tasks.map(\.watched)
    }
    #expect(try watched("-w", "core/src") == [[], ["core/src"], [], [], ["core/src"]])
    #expect(
      try watched("-w", directory.path.description)
        == [["app", "x"], ["core", "x"], ["tool", "x"], ["ui", "x"], [directory.path]])
  }

  @Test func `directories that a manifest names are watched where no task runs in them`() throws {
    let each = "t: { run: 'x', each: '{app,cli}/*' }"
    let cargo = [
      "app/Cargo.toml": "[dependencies]\ncore = { path = \"../core\" }\nx.path = \"../none\"\n",
      "cli/Cargo.toml": "[dependencies]\napp.path = \"../app\"\no.path = \"../../o\"\n",
      "core/Cargo.toml": "",
    ]
    let node = [
      "app/package.json": #"{"name": "app", "dependencies": {"c": "file:../core"}}"#,
      "cli/package.json": #"{"dependencies": {"app": "*", "x": "file:./x", "y": "file:../y"}}"#,
      "cli/x/package.json": "{}", "core/package.json": "{}", "y": "",
    ]
    let go = [
      "app/go.mod": "module app\nreplace c => ../core\n// replace d => ../other\n",
      "cli/go.mod": "module cli\nrequire app v0\nreplace app => ../app\n",
      "core/go.mod": "module c", "other/go.mod": "module d",
    ]
    for files in [cargo, node, go] {
      #expect(
        try list(each, files) == [
          #"t:app in app: ["app", "core"] [] []"#, #"t:cli in cli: ["cli"] [] ["t:app"]"#,
        ])
    }
  }

  @Test func `a change in an inner directory of another task is one of both`() throws {
    #expect(
      try list(
        "t: { run: 'x', each: 'go.mod' }, u: { run: 'x', each: 'package.json' }",
        ["go.mod": "module r", "web/package.json": "{}"]) == [
          #"t:. in .: ["."] [] []"#, #"u:web in web: ["web"] [] []"#,
        ])
  }

  // MARK: - Names

  @Test func `only a task with each stands for others`() throws {
    let directory = try projectDirectory([
      "a/package.json": "{}", "b/package.json": "{}",
      "watchrun.json": """
      { tasks: {
        "deploy:a": { run: "x", manual: true }, "make:debug": { run: "x" }, "test:lint": { run: "x" },
        test: { run: "pytest", each: "*/package.json" },
      } }
      """,
    ])
    func settings(_ words: String...) throws -> Settings {
      try OptionParser.parse(words.map(\.word), in: directory.path)
        .resolvingTasks(in: directory.path, programs: []) { _ in }
    }
    func tasks(_ settings: Settings) throws -> [String] {
      try ProjectSource(settings, directory: directory.path).load(settings) { _ in }
        .tasks.map { "\($0.name): \($0.run.command.words.map(\.decoded))" }
    }
    #expect(try settings("make", "-j4").taskNames == [])
    #expect(throws: Failure.self) { try settings("deploy") }
    var named = Settings()
    named.taskNames = ["deploy"]
    #expect(throws: Failure.self) { try tasks(named) }
    let words = try tasks(settings("test", "--", "-k", "foo"))
    #expect(words == [#"test:a: ["pytest -k foo"]"#, #"test:b: ["pytest -k foo"]"#])
    #expect(try tasks(settings("test:b", "--", "-x")) == [#"test:b: ["pytest -x"]"#])
  }
  @Test func `a task of a directory must not have the name of another task`() throws {
    let directory = try projectDirectory([
      "web/package.json": "{}",
      "watchrun.json": """
      { tasks: { test: { run: "x", each: "*/package.json" }, "test:web": { run: "y" } } }
      """,
    ])
    #expect(throws: Failure.usage("watchrun.json: two tasks have the name 'test:web'; rename one"))
    {
      try ProjectSource(nil, directory: directory.path).readFile()
    }
  }
}
