import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

struct WorkspaceTests {
  private func tasks(_ files: [String: String]) throws -> [String]? {
    let directory = try projectDirectory(
      files.merging([
        "packages/a/package.json": #"{"scripts": {"test": "x"}}"#,
        "packages/b/package.json": #"{"scripts": {"build": "y", "lint": "z"}}"#,
      ]) { $1 })
    let found = DetectedProject(directory.project)
    return found?.project.tasks.map { task in
      let places = task.each.isEmpty ? "" : " in \(task.each.map(\.description))"
      return "\(task.name): \(ProjectText.shown(task.run))\(places)"
    }
  }

  @Test func `the scripts of the members of a workspace are run in each of them`() throws {
    #expect(
      try tasks(["package.json": #"{"workspaces": ["packages/*"]}"#]) == [
        #"build: npm run --if-present build in ["packages/b/package.json"]"#,
        #"test: npm run --if-present test in ["packages/a/package.json"]"#,
      ])
    #expect(
      try tasks(["package.json": #"{"workspaces": {"packages": ["packages/a"]}}"#]) == [
        #"test: npm run --if-present test in ["packages/a/package.json"]"#
      ])
    #expect(
      try tasks([
        "package.json": "{}", "pnpm-lock.yaml": "",
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
        "packages/c/package.json": #"{"scripts": {"build": "y"}}"#,
      ]) == [
        #"build: pnpm run --if-present build in ["packages/b/package.json", "packages/c/package.json"]"#,
        #"test: pnpm run --if-present test in ["packages/a/package.json"]"#,
      ])
    #expect(
      try tasks(["package.json": #"{"workspaces": ["**", "!packages/b"]}"#, "yarn.lock": ""]) == [
        #"test: yarn run test in ["**/package.json", "!packages/b/package.json"]"#
      ])
  }

  @Test func `each member has its tasks, which the root's files start as well`() throws {
    let directory = try projectDirectory([
      "Cargo.toml":
        "[workspace]\nmembers = [\n  \"crates/*\", # all\n  'app',\n]\nexclude = [\"crates/old\"]\n",
      "rustfmt.toml": "", "Cargo.lock": "", "crates/old/Cargo.toml": "",
      "crates/core/Cargo.toml": "",
      "app/Cargo.toml": "[dependencies]\ncore = { path = \"../crates/core\" }\n",
    ])
    let found = try #require(DetectedProject(directory.project))
    #expect(
      found.summary == "this is a Rust project (Cargo.toml): build, then test in each package")
    let written = ProjectText.file(found.project)
    let text = """
          "test": {
            "run": "cargo test",
            "each": ["crates/*/Cargo.toml", "app/Cargo.toml", "!crates/old/Cargo.toml"],
            "watch": ["Cargo.lock", "Cargo.toml"],
            "after": ["build"]
          }
      """
    #expect(written.includes(text), "\(written)")
    let project = found.project.expandingMembers(in: directory.path)
    #expect(
      project.tasks.map { "\($0.name) \($0.after)" } == [
        "build:crates/core []", #"build:app ["build:crates/core"]"#,
        #"test:crates/core ["build:crates/core"]"#, #"test:app ["build:app"]"#,
      ])
    #expect(project.tasks.last?.watched == ["app", "Cargo.lock", "Cargo.toml"])
  }

  @Test func `a workspace of a single member is a project`() throws {
    let directory = try projectDirectory([
      "Cargo.toml": "[package]\n[workspace]\nmembers = []\n", "go.work": "use .", "go.mod": "",
    ])
    let project = DetectedProject(directory.project)?.project
    #expect(project?.tasks.allSatisfy(\.each.isEmpty) == true)
  }

  @Test func `the exclude of a package is not that of its workspace`() throws {
    let directory = try projectDirectory([
      "Cargo.toml":
        "[package]\nexclude = [\"a\"]\n[workspace]\nmembers = [\"a\"]\n[x]\nmembers = [\"b\"]\n",
      "a/Cargo.toml": "", "b/Cargo.toml": "",
    ])
    let project = DetectedProject(directory.project)?.project.expandingMembers(in: directory.path)
    #expect(project?.names == ["build:a", "build:.", "test:a", "test:."])
  }

  @Test func `go.work names modules elsewhere, and replaces others`() throws {
    let directory = try projectDirectory([
      "w/go.work": "use ./a // ./x\nuse ../b\nreplace c => ./c\n", "w/a/go.mod": "module a",
      "b/go.mod": "module b", "w/c/go.mod": "module c", "w/x/go.mod": "module x",
    ])
    let place = ProjectDirectory(path: directory["w"])
    let project = try #require(DetectedProject(place)).project
    #expect(project.tasks.first?.each.map(\.description) == ["a/go.mod"])
  }

  @Test(
    arguments: [
      ("go.work", "go 1.22\n", nil), ("go.work", "use (\n./a\n", "no complete 'use' in it"),
      ("go.work", "", "the file is empty"),
      ("Cargo.toml", "x = [\n[\"a\",\n\"b\"]\n]\n[package]\n", nil),
      ("Cargo.toml", "[package]\n[works\n", "'[works' has no ']'"),
    ] as [(String, String, String?)])
  func `a manifest with an error says nothing of its members`(
    _ name: String, _ text: String, _ problem: String?
  ) throws {
    let directory = try projectDirectory([name: text])
    let found = directory[name].problemInManifest(in: directory.path)
    #expect(found == problem.map { "\(name): \($0)" })
  }

  @Test func `the modules of go.work have their tasks`() throws {
    let directory = try projectDirectory([
      "go.work": "go 1.22\nuse (\n\t.\n\t./a/b\n)\n", "go.mod": "module x",
      "a/b/go.mod": "module b",
    ])
    let project = DetectedProject(directory.project)?.project.expandingMembers(in: directory.path)
    #expect(project?.names == ["build:.", "build:a/b", "test:.", "test:a/b"])
    #expect(project?.tasks.first?.ignores.map(\.description) == ["/a/b"])
  }

  /// The files of a workspace, those of its member `packages/a`, and the manager there.
  private static let managers: [([String: String], [String: String], String)] = {
    let npm = #"{"workspaces": ["packages/*"]}"#
    let named = #"{"workspaces": ["packages/*"], "packageManager": "yarn@4.1.0"}"#
    let pnpm = "packages:\n  - 'packages/*'\n"
    return [
      (["package.json": npm, "yarn.lock": ""], [:], "yarn"),
      (["package.json": npm, "bun.lock": ""], [:], "bun"),
      (["package.json": npm, "package-lock.json": ""], ["yarn.lock": ""], "npm"),
      (["package.json": npm], ["yarn.lock": ""], "yarn"),
      (["package.json": named], [:], "yarn"), (["package.json": named], ["bun.lock": ""], "yarn"),
      (["package.json": "{}", "pnpm-workspace.yaml": pnpm], [:], "pnpm"),
      (["pnpm-workspace.yaml": "packages: [ './packages/**', docs ] # all\n"], [:], "pnpm"),
      (["pnpm-workspace.yaml": "packages:\n- packages/{a,b}\n"], [:], "pnpm"),
      // Those of others, or of none.
      (["pnpm-workspace.yaml": "packages:\n - '*'\ncatalog:\n - packages/*\n"], [:], "npm"),
      (
        ["package.json": #"{"workspaces": ["packages/*", "!packages/a"]}"#, "yarn.lock": ""], [:],
        "npm"
      ),
      (["package.json": #"{"workspaces": ["a", "../packages/a"]}"#, "yarn.lock": ""], [:], "npm"),
      (["package.json": "{}", "yarn.lock": ""], [:], "npm"),
      (["package.json": npm, "yarn.lock": "", "packages/.git/": ""], [:], "npm"),
    ]
  }()

  @Test(arguments: managers)
  func `the lock file and the manager of the workspace count in its members`(
    _ files: [String: String], _ own: [String: String], _ manager: String
  ) throws {
    let directory = try projectDirectory(files)
    let member = own.merging(["package.json": #"{"scripts": {"test": "x"}}"#]) { $1 }
    for (name, text) in member {
      try directory.makeDirectories("packages/a")
      try directory.write(text, to: "packages/a/\(name)")
    }
    let found = DetectedProject(ProjectDirectory(path: directory["packages/a"]))
    #expect(found?.project.tasks.map(\.run) == [.line("\(manager) run test")])
  }

  @Test func `a script of the workspace itself is preferred`() throws {
    let package = #"{"workspaces": ["packages/*"], "scripts": {"test": "x"}}"#
    #expect(try tasks(["package.json": package]) == ["test: npm run test"])
  }

  @Test(
    arguments: [
      ("turbo run test", false), ("lerna run test", false), ("nx run-many --target=test", false),
      ("pnpm -r test", false), ("pnpm --filter './packages/*' test", false),
      ("pnpm -r --parallel run test", false), ("npm run test --workspaces", false),
      ("yarn workspaces foreach -A run test", false), ("turbo run lint test", false),
      ("CI=1 turbo run test", true), ("turbo run test -- --watchAll=false", true),
      ("turbo run lint", true), ("pnpm -r test --watchAll=false", true),
      ("turbo run test --filter=d", true), ("npm test -w d", true),
    ])
  func `the scripts of members that a runner starts count`(_ line: String, _ isRun: Bool) throws {
    let found = try tasks([
      "package.json": #"{"workspaces": ["packages/*"], "scripts": {"test": "\#(line)"}}"#,
      "packages/c/package.json": #"{"scripts": {"test": "react-scripts test"}}"#,
      "packages/d/package.json": #"{"name": "d", "scripts": {"test": "x"}}"#,
    ])
    #expect((found == ["test: npm run test"]) == isRun, "\(found ?? [])")
  }

  @Test func `members without such scripts are no tasks`() throws {
    #expect(try tasks(["package.json": #"{"workspaces": ["tools/*", "../x"]}"#]) == nil)
    #expect(try tasks(["package.json": "{}"]) == nil)
  }

  @Test func `a member that only inherits from the workspace watches itself`() throws {
    let directory = try projectDirectory([
      "Cargo.toml": """
      [workspace.package]
      version = "1"
      [workspace.dependencies]
      core = { path = "core" }
      all = { path = "." }
      """, "a/Cargo.toml": "[package]\nversion.workspace = true\n", "core/Cargo.toml": "",
    ])
    let project = DetectedProject(ProjectDirectory(path: directory["a"]))
    #expect(project?.project.tasks.first?.watched == ["."])
  }

  /// A Cargo, Go and Node workspace with the members `core`, `app/web` and `other`, of which `web` uses `core`.
  private static let cargo = [
    "Cargo.toml": "[workspace]\n[workspace.dependencies]\ncore = { path = \"core\" }\n",
    "core/Cargo.toml": "", "app/web/Cargo.toml": "[dependencies]\ncore.workspace = true\n",
    "other/Cargo.toml": "",
  ]
  private static let go = [
    "go.work": "go 1.22\nuse (\n\t./core\n\t./app/web\n)\n", "core/go.mod": "module core",
    "app/web/go.mod": "module web", "other/go.mod": "module other",
  ]
  private static let node = [
    "package.json": #"{"workspaces": ["core", "app/*", "other"]}"#,
    "core/package.json": #"{"name": "@x/core", "scripts": {"test": "x"}}"#,
    "app/web/package.json": #"{"scripts": {"test": "x"}, "dependencies": {"@x/core": "1"}}"#,
    "other/package.json": #"{"name": "other", "scripts": {"test": "x"}}"#,
  ]

  @Test(arguments: [cargo, go, node])
  func `a member watches those that it uses`(_ files: [String: String]) throws {
    let directory = try projectDirectory(files)
    func watched(_ name: String) throws -> [Path]? {
      let project = DetectedProject(ProjectDirectory(path: directory[name]))
      return project?.project.tasks.first?.watched
    }
    #expect(try watched("app/web") == [".", "../../core"])
    #expect(try watched("other") == ["."])
  }

  @Test func `one that is named by its path as well is watched once`() throws {
    let directory = try projectDirectory([
      "package.json": #"{"workspaces": ["packages/*"]}"#,
      "packages/core/package.json": #"{"name": "core", "scripts": {"test": "x"}}"#,
      "packages/ui/package.json":
        #"{"scripts": {"test": "x"}, "dependencies": {"core": "file:../core"}}"#,
    ])
    let project = DetectedProject(ProjectDirectory(path: directory["packages/ui"]))
    #expect(project?.project.tasks.first?.watched == [".", "../core"])
  }
}
