import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

/// The graph of a project.
struct ProjectGraphTests {
  private func graph(
    _ tasks: String, _ rest: String = "", _ settings: Settings = Settings(),
    in directory: Path = "/p"
  ) throws -> TaskGraph {
    let project = try readProject("{ tasks: { \(tasks) }, \(rest) }")
      .overridden(by: settings, in: directory)
    return try project.graph(settings.adding(project.defaults), in: directory)
  }

  /// The tasks that a change of this path starts.
  private func started(by path: Path, in graph: TaskGraph) -> [String] {
    let change = ChangeBatch.Change(path: path, kind: .modified, type: .file)
    return graph.tasks.filter { $0.triggers.isTriggered(by: change) }.map(\.name)
  }

  /// One observer serves all tasks: it observes an ignored directory that one task names.
  @Test func `an ignored path that one task watches stays ignored for the others`() throws {
    let graph = try graph(
      """
      all: { run: 'x' }, generated: { run: 'x', watch: ['.build/out'] },
      both: { run: 'x', watch: ['.', '.build/out'] }, sources: { run: 'x', watch: ['Sources'] },
      """)
    #expect(started(by: "/p/.build/out/a", in: graph) == ["generated", "both"])
    #expect(started(by: "/p/Sources/a", in: graph) == ["all", "both", "sources"])
    #expect(started(by: "/p/out/a", in: graph) == ["all", "both"])
  }

  @Test func `a service has its own limit of restarts, and the first pause`() throws {
    let graph = try graph(
      """
      a: { run: 'x', service: true }, b: { run: 'x', service: true, restartLimit: 0, backOff: '2s' },
      c: { run: 'x', keepAlive: true, backOff: '1s' }, d: { run: 'x' },
      """)
    #expect(graph.tasks.map(\.policy.restartLimit) == [4, 0, nil, nil])
    #expect(
      graph.tasks.map(\.policy.backOff)
        == [.milliseconds(500), .seconds(2), .seconds(1), .milliseconds(500)])
  }

  @Test func `two processes are started only of services that allow it`() throws {
    let settings = try OptionParser.parse(["-o".word, "overlap".word])
    let graph = try graph(
      """
      a: { run: 'x', service: true, port: 3000 }, b: { run: 'x', service: true, listen: 3001 },
      c: { run: 'x', service: true, stop: 'y' }, d: { run: 'x', service: true, interactive: true },
      e: { run: 'x', service: true }, f: { run: 'x', service: true, ready: { port: 3002 } },
      """, "", settings)
    #expect(
      graph.tasks.map { $0.policy.busyPolicy == .overlap } == [
        false, true, false, false, true, false,
      ])
  }

  @Test func `a variable that is given is stronger than that of the file, but no port is`() throws {
    let settings = try OptionParser.parse(
      ["-E", "LOG=debug", "-E", "PORT=1", "-E", "NEW=2"].map(\.word))
    let graph = try graph(
      "a: { run: 'x', service: true, port: 3000, env: { LOG: 'info', OWN: '3' } }", "", settings)
    let variables = graph.tasks[0].command.environment.variables
    let values = Dictionary(variables.map { ($0.name.decoded, $0.value.decoded) }) { $1 }
    #expect(values == ["LOG": "debug", "OWN": "3", "NEW": "2"])
  }

  @Test(.timeLimit(.minutes(1)))
  func `manual tasks that depend on each other densely are a graph at once`() throws {
    let tasks = (0..<30).map { number in
      let after = (0..<number).map { "'t\($0)'" }.joined(separator: ", ")
      return "t\(number): { run: 'x', manual: true, after: [\(after)] },"
    }
    let graph = try graph(tasks.joined() + "u: { run: 'x', after: 't3' },")
    #expect(graph.tasks.filter { !$0.isManual }.map(\.name) == ["t0", "t1", "t2", "t3", "u"])
  }

  @Test func `an option replaces the limit of tasks that run at once`() throws {
    let settings = try OptionParser.parse(["-j".word, "3".word])
    #expect(try graph("a: { run: 'x' }", "jobs: 2", settings).jobs == 3)
    #expect(try graph("a: { run: 'x' }", "jobs: 2").jobs == 2)
  }

  @Test func `a path that is not ignored starts all tasks that watch it`() throws {
    let graph = try graph("all: { run: 'x' }, docs: { run: 'x', watch: ['docs'] },")
    #expect(started(by: "/p/docs/a", in: graph) == ["all", "docs"])
  }

  @Test func `ignore files apply to each task's own paths`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("made/\n", to: ".gitignore")
    try directory.makeDirectories("made")
    let graph = try graph(
      "all: { run: 'x' }, made: { run: 'x', watch: ['made'] },", in: directory.path)
    #expect(started(by: directory["made/a"], in: graph) == ["made"])
    #expect(started(by: directory["a"], in: graph) == ["all"])
  }

  @Test(arguments: ["a*", "a?", "[a]", "a b ", #"a\\b"#, "!a", "#a"])
  func `a path is not a pattern`(name: String) throws {
    let graph = try graph(
      "all: { run: 'x', }, odd: { run: 'x', watch: ['node_modules/\(name)'] },")
    let plain = name.replacing(#"\\"#, with: #"\"#)
    #expect(started(by: Path("/p/node_modules").appending(plain), in: graph) == ["odd"])
    #expect(started(by: "/p/node_modules/ax", in: graph) == ["all"])
  }

  private static let line = "a: { run: 'x' }, s: { run: 'y', service: true, watch: ['src'] },"

  private func settings(_ words: String...) throws -> Settings {
    try OptionParser.parse(words.map { Array($0.utf8) })
  }

  @Test func `options replace the keys of all tasks`() throws {
    let settings = try settings(
      "-w", "lib", "-r", "--stop-signal", "INT", "--timeout", "9s", "--events", "create")
    let tasks = try graph(Self.line, "", settings).tasks
    #expect(tasks.map { $0.triggers.watched.map(\.path) } == [["/p/lib"], ["/p/lib"]])
    #expect(tasks.map(\.rules.busyPolicy) == [.restart, .restart])
    #expect(tasks.map(\.policy.stopPlan.signal) == [.interrupt, .interrupt])
    #expect(tasks.map(\.triggers.kinds) == [[.created], [.created]])
    // A service does not end.
    #expect(tasks.map(\.policy.timeout) == [.seconds(9), nil])
  }

  @Test func `a task that watches nothing still watches nothing with --watch`() throws {
    let tasks = try graph(
      "a: { run: 'x' }, b: { run: 'x', after: 'a' }", "", settings("-w", "lib")
    ).tasks
    #expect(tasks.map(\.triggers.watched.count) == [1, 0])
  }

  @Test func `a service is not queued by --on-busy queue`() throws {
    let tasks = try graph(Self.line, "", settings("-o", "queue")).tasks
    #expect(tasks.map(\.rules.busyPolicy) == [.queue, .restart])
  }

  @Test func `a service is restarted a few times, and a task that is kept alive always`() throws {
    let graph = try graph(
      "s: { run: 'x', service: true }, k: { run: 'x', keepAlive: true }, t: { run: 'x' }")
    #expect(graph["s"]?.policy.restartLimit == 4)
    #expect(graph["k"]?.policy.restartLimit == nil)
    #expect(graph["k"]?.policy.keepsAlive == true)
    #expect(graph["t"]?.policy.keepsAlive == false)
  }

  private func shells(_ names: String...) -> [Command.Form] {
    names.map { .shell(Array($0.utf8)) }
  }

  @Test func `shell lines and hooks are run by the shell of the task, of the file, or by sh`()
    throws
  {
    let tasks = "a: { run: 'x', onSuccess: 'y' }, b: { run: 'x', shell: 'fish', onFailure: 'y' }"
    let graph = try graph(tasks)
    #expect(graph.tasks.map(\.command.form) == shells("sh", "fish"))
    let hooks = [graph["a"]?.policy.onSuccess, graph["b"]?.policy.onFailure]
    #expect(hooks.map(\.?.form) == shells("sh", "fish"))
    let named = try self.graph(tasks, "shell: 'bash'").tasks
    #expect(named.map(\.command.form) == shells("bash", "fish"))
    let given = try self.graph(tasks, "shell: 'bash'", settings("--shell", "zsh")).tasks
    #expect(given.map(\.command.form) == shells("zsh", "zsh"))
  }

  @Test func `the shell of the file is used unless an option names another`() throws {
    let form = try graph(Self.line, "shell: 'bash'").tasks.map(\.command.form)
    #expect(form == Array(repeating: .shell(Array("bash".utf8)), count: 2))
    let other = try graph(Self.line, "shell: 'bash'", settings("--shell", "zsh")).tasks
    #expect(other.map(\.command.form) == Array(repeating: .shell(Array("zsh".utf8)), count: 2))
  }

  @Test func `what a task writes starts only the others that watch it`() throws {
    let graph = try graph(
      """
      a: { run: 'x', writes: ['info.txt', 'log/**'] }, b: { run: 'x', after: ['a'], watch: ['.'] },
      c: { run: 'x', watch: ['src'], writes: '*.o' },
      """)
    #expect(started(by: "/p/info.txt", in: graph) == ["b"])
    #expect(started(by: "/p/log/x", in: graph) == ["b"])
    #expect(started(by: "/p/src/a.o", in: graph) == ["a", "b"])
    #expect(started(by: "/p/src/a.c", in: graph) == ["a", "b", "c"])
  }
}
