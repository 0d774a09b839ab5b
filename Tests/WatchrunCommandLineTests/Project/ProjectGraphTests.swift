import ActionRunning
import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

/// From a project to the graph that is run.
struct ProjectGraphTests {
  private func graph(
    _ tasks: String, _ rest: String = "", _ settings: Settings = Settings(),
    in directory: Path = "/p"
  ) throws -> TaskGraph {
    try readProject("{ tasks: { \(tasks) }, \(rest) }")
      .graph(settings, in: directory, ignoring: [])
  }

  /// The tasks that a change of this path starts.
  private func started(by path: Path, in graph: TaskGraph) -> [String] {
    let change = ChangeBatch.Change(path: path, kind: .modified, type: .file)
    return graph.tasks.filter { $0.triggers.isTriggered(by: change) }.map(\.name)
  }

  /// One observer sees for all: it sees a folder that is ignored when one task watches that by name.
  @Test func `what another task watches by name is as ignored as before for the rest`() throws {
    let graph = try graph(
      """
      all: { run: 'x' }, generated: { run: 'x', watch: ['.build/out'] },
      both: { run: 'x', watch: ['.', '.build/out'] }, sources: { run: 'x', watch: ['Sources'] },
      """)
    #expect(started(by: "/p/.build/out/a", in: graph) == ["generated", "both"])
    #expect(started(by: "/p/Sources/a", in: graph) == ["all", "both", "sources"])
    #expect(started(by: "/p/out/a", in: graph) == ["all", "both"])
  }

  @Test func `what is not ignored belongs to all who look there`() throws {
    let graph = try graph("all: { run: 'x' }, docs: { run: 'x', watch: ['docs'] },")
    #expect(started(by: "/p/docs/a", in: graph) == ["all", "docs"])
  }

  @Test func `ignore files and the whole project's patterns count for it`() throws {
    let folder = try TemporaryDirectory()
    try folder.write("made/\n", to: ".gitignore")
    try folder.makeDirectories("made")
    let graph = try graph(
      "all: { run: 'x' }, made: { run: 'x', watch: ['made'] },", in: folder.path)
    #expect(started(by: folder["made/a"], in: graph) == ["made"])
    #expect(started(by: folder["a"], in: graph) == ["all"])
  }

  @Test(arguments: ["a*", "a?", "[a]", "a b ", #"a\\b"#, "!a", "#a"])
  func `a name is taken as it is, and not for a pattern`(name: String) throws {
    let graph = try graph(
      "all: { run: 'x', }, odd: { run: 'x', watch: ['node_modules/\(name)'] },")
    let plain = name.replacing(#"\\"#, with: #"\"#)
    #expect(started(by: Path("/p/node_modules").appending(plain), in: graph) == ["odd"])
    #expect(started(by: "/p/node_modules/ax", in: graph) == ["all"])
  }
}
