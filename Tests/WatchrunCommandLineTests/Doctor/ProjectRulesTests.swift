import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

/// Where a rule that ignores a path is written.
@Suite struct ProjectRulesTests {
  /// The place of the rule by which a session of the project ignores a path.
  private func place(
    _ name: Path, _ directory: Path, options: [String] = []
  ) throws -> String? {
    var settings = try OptionParser.parse(options.map { Array($0.utf8) })
    let source = ProjectSource(settings, directory: directory)
    let rules = ProjectRules(try #require(try source.project(for: settings)), of: source)
    settings.ignores = rules.filter(in: directory).ignore + settings.ignores
    let decision = settings.makeFilter(in: directory).decision(
      for: name, isDirectory: false, below: directory)
    return decision.rule.map { rules.placing($0).description }
  }

  @Test func `a rule of the project is named with its line in the file, and none as an option`()
    throws
  {
    let text = """
      { tasks: { a: { run: "true" } },
        ignore: ["*.{md,txt}",
          "/prog"] }
      """
    let directory = try projectDirectory(["watchrun.json": text])
    let found = try ["a.md", "a.txt", "prog", "a.o", "a.tmp", "a~"].map {
      try place(Path($0), directory.path, options: ["-i", "*.o", "-i", "*.tmp"])
    }
    #expect(
      Array(found.prefix(5)) == [
        "watchrun.json:2:*.md", "watchrun.json:2:*.txt", "watchrun.json:3:/prog", "--ignore:1:*.o",
        "--ignore:2:*.tmp",
      ])
    #expect(found[5]?.hasPrefix("built-in:") == true)
  }

  @Test func `a rule of a detected project has no file`() throws {
    let makefile = "app: a.c\n\tcc -o app a.c\n"
    let directory = try projectDirectory(["Makefile": makefile, "a.c": ""])
    #expect(try place("a.o", directory.path)?.hasPrefix("detected:") == true)
  }

  @Test func `a path that a task writes is named with the task and the line`() throws {
    let text = """
      { tasks: { a: { run: "true", watch: ["src"],
          writes: ["*.{log,txt}",
            "src/out/**"] }, b: { run: "true", writes: "/src/out/", watch: ["src", "doc"] } } }
      """
    let directory = try projectDirectory(["watchrun.json": text])
    let source = ProjectSource(Settings(), directory: directory.path)
    let project = try #require(try source.project(for: Settings()))
    let rules = ProjectRules(project, of: source)
    func reason(_ name: String) -> String? {
      rules.reason(of: .init(path: directory[name], kind: .modified, type: .file))
    }
    #expect(
      reason("src/out/x")
        == "written by a (watchrun.json:3:src/out/**), b (watchrun.json:3:/src/out/)")
    #expect(reason("none/x") == "no task watches it")
    let decisions = rules.decisions(on: directory["src/a.txt"], isDirectory: false)
    #expect(decisions.map(\.description) == ["a (watchrun.json:2:*.txt)", "b"])
    #expect(decisions.map(\.isIncluded) == [false, true])
  }
}
