import ActionRunning
import FileObservation
import PathFiltering
import TestSupport
import Testing

@testable import WatchrunSettings

func readProject(_ text: String) throws -> Project {
  try ProjectReader.read(Array(text.utf8), as: "watchrun.json").project
}

struct ProjectReaderTests {
  @Test func `the example of the documentation is read correctly`() throws {
    let project = try readProject(
      """
      {
        jobs: 2,                       // tasks that may run side by side
        ignore: ["docs/**"],           // for every task
        tasks: {
          build:  { run: "swift build", watch: ["Sources", "Package.swift"] },
          test:   { run: ["swift", "test", "--skip-build"], watch: ["Tests"], after: ["build"] },
          server: {
            run: ".build/debug/App", after: ["build"], service: true,
            ready: { port: 8080, timeout: "10s" }
          },
          page:   { proxy: 8080, port: 4000, reload: ["Public"], after: ["server"] },
        },
      }
      """)
    #expect(project.jobs == 2)
    #expect(project.ignores.map(\.description) == ["docs/**"])
    #expect(project.tasks.map(\.name) == ["build", "test", "server"])
    #expect(project.tasks.map(\.after) == [[], ["build"], ["build"]])
    #expect(project.tasks.map(\.watched) == [["Sources", "Package.swift"], ["Tests"], []])
    #expect(project.tasks[1].run == .words(["swift", "test", "--skip-build"]))
    #expect(project.tasks[2].isService)
    #expect(
      project.tasks[2].readiness == TaskDefinition.Readiness(.port(8080), timeout: .seconds(10)))
    #expect(
      project.pages == [
        .init(
          name: "page", proxies: [.init(path: "/", server: .port(8080))], port: 4000,
          reload: ["Public"], after: ["server"])
      ])
  }

  @Test func `each key of a task is understood`() throws {
    let task = try #require(
      try readProject(
        """
        { tasks: { t: {
          run: 'x', directory: "d", env: { A: "1", B: "" }, watch: ["w"], exts: ["c", "tar.gz"],
          filter: ["*.c"], ignore: ["*.o", "!keep.o"], writes: "log/**", events: ["create", "metadata"],
          onBusy: "signal", stopSignal: "INT", stopTimeout: "3s", timeout: "1m", postpone: true,
          onSuccess: "yes", onFailure: "no", keepAlive: false,
        } } }
        """
      ).tasks.first)
    #expect(task.run == .line("x"))
    #expect(task.directory == "d")
    #expect(
      task.environment.map { String(decoding: $0.name + [0x3D] + $0.value, as: UTF8.self) }
        == ["A=1", "B="])
    #expect(task.watched == ["w"])
    #expect(task.extensions == [Array("c".utf8), Array("tar.gz".utf8)])
    #expect(task.filters.map(\.description) == ["*.c"])
    #expect(task.ignores.map(\.description) == ["*.o", "!keep.o"])
    #expect(task.writes.map(\.description) == ["log/**"])
    #expect(task.kinds == [.created, .metadata])
    #expect(task.onBusy == .signal)
    #expect(task.stopPlan == StopPlan(signal: .interrupt, timeout: .seconds(3)))
    #expect(task.timeout == .seconds(60))
    #expect(task.isPostponed && !task.isService)
    #expect(task.onSuccess == Array("yes".utf8) && task.onFailure == Array("no".utf8))
  }

  @Test func `the default of 'watch' is the directory, or nothing in a task with 'after'`() throws {
    let project = try readProject(
      "{ tasks: { a: { run: 'x' }, b: { run: 'y', after: ['a'] }, c: { run: 'z', watch: [] } } }")
    #expect(project.tasks.map(\.watched) == [["."], [], []])
  }

  @Test(
    arguments: [
      ("port: 80", .port(80)), ("url: 'http://localhost/x'", .url("http://localhost/x")),
      ("line: 'up'", .line("up")), ("url: 'https://a/x'", .url("https://a/x")),
      ("url: 'http://a', status: 401", .url("http://a", statuses: [401])),
      ("url: 'http://a', status: [200, 204]", .url("http://a", statuses: [200, 204])),
      ("run: 'pg_isready'", .command(Command(shell: "pg_isready"))),
      ("run: ['pg_isready', '-q']", .command(Command("pg_isready", "-q"))),
    ] as [(String, TaskDefinition.Readiness.Condition)])
  func `a service has one readiness check, with thirty seconds by default`(
    field: String, sign: TaskDefinition.Readiness.Condition
  ) throws {
    let project = try readProject(
      "{ tasks: { a: { run: 'x', service: true, ready: { \(field) } } } }")
    #expect(project.tasks.first?.readiness == TaskDefinition.Readiness(sign, timeout: .seconds(30)))
  }

  @Test(arguments: [(true, false), (false, true)])
  func `a service may be answered for before it starts`(
    existing: Bool, detectsConflicts: Bool
  ) throws {
    let project = try readProject(
      "{ tasks: { a: { run: 'x', service: true, ready: { port: 80, existing: \(existing) } } } }")
    #expect(project.tasks.first?.readiness?.detectsConflicts == detectsConflicts)
  }

  @Test(
    arguments: [
      (["b"], ["a", "b"]), (["a"], ["a"]), (["c"], ["a", "b", "c"]), (["d", "a"], ["a", "d"]),
      (["p"], ["a", "p"]), ([], ["a", "b", "c", "d", "p"]),
    ] as [([String], [String])])
  func `a selection has the named tasks and their dependencies`(
    names: [String], expected: [String]
  ) throws {
    let project = try readProject(
      """
      { tasks: { a: { run: 'x' }, b: { run: 'x', after: ['a'] }, c: { run: 'x', after: ['b'] },
        d: { run: 'x' }, p: { serve: '.', after: ['a'] } } }
      """
    ).selecting(names)
    #expect((project.tasks.map(\.name) + project.pages.map(\.name)) == expected)
  }

  @Test func `an unknown task cannot be selected`() throws {
    let project = try readProject("{ tasks: { build: { run: 'x' } } }")
    let failure = #expect(throws: Failure.self) { try project.selecting(["biuld"]) }
    #expect(failure?.message == "there is no task 'biuld'; did you mean 'build'?")
    #expect(failure?.status == 64)
    let other = #expect(throws: Failure.self) { try project.selecting(["build", "x"]) }
    #expect(other?.message == "there is no task 'x'; tasks: build")
  }

  @Test func `the differences from an earlier file are named`() throws {
    let old = try readProject("{ tasks: { a: { run: 'x' }, b: { run: 'x' }, c: { run: 'x' } } }")
    let new = try readProject("{ tasks: { a: { run: 'x' }, b: { run: 'y' }, d: { run: 'x' } } }")
    #expect(new.changes(since: old) == "new: d; changed: b; removed: c")
    let other = try readProject(
      "{ jobs: 1, ignore: ['x'], tasks: { c: { run: 'x' }, b: { run: 'x' }, a: { serve: 'x' } } }")
    #expect(other.changes(since: old) == "changed: a; for all tasks: jobs, ignore")
    let turned = try readProject("{ tasks: { c: { run: 'x' }, b: { run: 'x' }, a: { run: 'x' } } }")
    #expect(turned.changes(since: old) == "in another order")
  }

  @Test func `a single string stands for an array`() throws {
    let short = try readProject(
      """
      { ignore: "docs", tasks: {
        a: { run: "x", watch: "src", exts: "c", filter: "*.c", ignore: "b", events: "create" },
        b: { run: "x", after: "a" }, p: { serve: "x", host: "h", reload: "r", after: "a" },
      } }
      """)
    let long = try readProject(
      """
      { ignore: ["docs"], tasks: {
        a: { run: "x", watch: ["src"], exts: ["c"], filter: ["*.c"], ignore: ["b"],
             events: ["create"] },
        b: { run: "x", after: ["a"] },
        p: { serve: "x", host: ["h"], reload: ["r"], after: ["a"] },
      } }
      """)
    #expect(short == long)
  }

  @Test func `the top level has defaults for options`() throws {
    let project = try readProject(
      """
      { debounce: "auto", poll: "2s", skipUnchanged: true, shell: "bash", clear: true,
        color: "always", notify: "change",
        diagnostics: "errors.txt", output: "failed", statusLine: "never", tasks: { a: { run: "x" } } }
      """)
    let defaults = project.defaults
    #expect(
      Set(defaults.keys) == [
        "debounce", "poll", "skipUnchanged", "shell", "clear", "color", "notify", "diagnostics",
        "output", "statusLine",
      ])
    let settings = Settings().adding(defaults)
    #expect(settings.quietPeriod == .adaptive)
    #expect(settings.polling == Polling(.always, interval: .seconds(2) ... .seconds(2)))
    #expect(settings.polling.use == .always && settings.skipsUnchanged && settings.clearsScreen)
    #expect(settings.shell == .always(Array("bash".utf8)) && settings.colorMode == .always)
    #expect(settings.notifyMode == .change && settings.diagnosticsFile == "errors.txt")
    #expect(settings.outputMode == .failed && settings.effectiveStatusLine == .never)
  }

  @Test func `an option that is given is stronger than the file`() throws {
    let words = ["-d", "1s", "--poll", "--color", "never", "--shell", "zsh"]
    let settings = try OptionParser.parse(words.map { Array($0.utf8) })
    let project = try readProject(
      """
      { debounce: "2s", poll: false, color: "always", shell: "bash", tasks: { a: { run: "x" } } }
      """)
    let both = settings.adding(project.defaults)
    #expect(both.quietPeriod == .fixed(.seconds(1)) && both.polling == Polling(.always))
    #expect(both.colorMode == .never && both.shell == .always(Array("zsh".utf8)))
  }

  @Test func `the paths of a file are listed with their positions`() throws {
    let text = """
      { tasks: { a: { directory: 'd',
      run: 'x', watch: ['w', 'v'] }, p: { serve: 's' } } }
      """
    let file = try ProjectReader.read(Array(text.utf8), as: "f")
    #expect(
      file.paths.map { "\($0.position) \($0.key) \($0.path)" } == [
        "1:28 directory d", "2:19 watch w", "2:24 watch v", "2:44 serve s",
      ])
  }

  @Test func `a single round of only manual tasks is an error`() throws {
    let directory = try projectDirectory([
      "watchrun.json": "{ tasks: { m: { run: 'x', manual: true } } }"
    ])
    func load(_ words: String...) throws -> Project {
      let settings = try OptionParser.parse(words.map(\.word), in: directory.path)
      return try ProjectSource(settings, directory: directory.path).load(settings) { _ in }
    }
    #expect(
      throws: Failure.usage(
        "nothing to run: --once runs no manual task; name one: watchrun --once --task m")
    ) { try load("--once") }
    #expect(try load("--once", "--task", "m").tasks.count == 1)
    #expect(try load().tasks.count == 1)
  }

  @Test(
    arguments: [
      ("run: 'x'", "the task 't' is a shell line; write its 'run' as an array"),
      ("run: ['x'], onFailure: 'y'", "'onFailure' of the task 't' is a shell line; remove it"),
      (
        "run: ['x'], service: true, stop: 'y'",
        "'stop' of the task 't' is a shell line; write it as an array"
      ),
      (
        "run: ['x'], service: true, ready: { run: 'y' }",
        "'ready' of the task 't' is a shell line; write it as an array"
      ),
    ])
  func `without a shell, no line of a task is run, also when the file is read again`(
    _ keys: String, _ problem: String
  ) throws {
    let directory = try projectDirectory(["watchrun.json": "{ tasks: { t: { \(keys) } } }"])
    let settings = try OptionParser.parse(["--shell".word, "none".word])
    let source = ProjectSource(settings, directory: directory.path)
    let failure = Failure.usage("--shell none: \(problem), or remove --shell")
    #expect(throws: failure) { try source.load(settings) { _ in } }
    #expect(throws: failure) { try source.project(for: settings, again: true, detects: true) }
    try directory.write(
      "{ tasks: { t: { run: ['x'], service: true, ready: { run: ['y'] }, stop: ['z'] } } }",
      to: "watchrun.json")
    #expect(try source.load(settings) { _ in }.tasks.count == 1)
  }

  @Test func `a selected task may be detected no longer`() throws {
    let directory = try projectDirectory(["Makefile": "all:\n\tcc\ntest:\n\t./x\n"])
    let settings = try OptionParser.parse(["-t".word, "test".word])
    let source = ProjectSource(settings, directory: directory.path)
    #expect(
      try source.project(for: settings, again: true, detects: true)?.names == ["build", "test"])
    try directory.write("all:\n\tcc\ntest:\n\tssh\n", to: "Makefile")
    #expect(try source.project(for: settings, again: true, detects: true) == nil)
  }

  @Test func `words after --doctor name tasks, or a command`() throws {
    let directory = try projectDirectory([
      "watchrun.json": "{ tasks: { test: { run: 'x' }, a: { run: 'x' } } }"
    ])
    func names(_ words: String...) throws -> [String] {
      try OptionParser.parse((["--doctor"] + words).map(\.word))
        .resolvingTasks(in: directory.path) { _ in Issue.record("nothing is to be said") }.taskNames
    }
    #expect(try names("test", "a") == ["test", "a"])
    #expect(try names("test", "b") == [])
    #expect(try names("--", "test") == [])
  }

  @Test func `a quiet period of a project must end`() throws {
    let defaults = try readProject("{ debounce: '5s', tasks: { a: { run: 'x' } } }").defaults
    let settings = try OptionParser.parse(["--max-wait".word, "1s".word]).adding(defaults)
    #expect(
      throws: Failure.usage(
        "--max-wait must not be shorter than the quiet period of \"debounce\"")
    ) { try settings.checkTimes() }
    try OptionParser.parse(["--max-wait".word, "5s".word]).adding(defaults).checkTimes()
  }

  @Test func `the words after a task and -- are added to its command`() throws {
    let directory = try projectDirectory([
      "watchrun.json":
        "{ tasks: { t: { run: 'pytest' }, w: { run: ['go', 'test'], after: ['t'] } } }"
    ])
    func runs(_ words: String...) throws -> [Project.Run] {
      let settings = try OptionParser.parse(words.map(\.word), in: directory.path)
        .resolvingTasks(in: directory.path) { _ in }
      return try ProjectSource(settings, directory: directory.path).load(settings) { _ in }
        .tasks.map(\.run)
    }
    #expect(
      try runs("t", "--", "-k", "a b", "it's", "", "--", "x\ny")
        == [.line("pytest -k 'a b' \"it's\" '' -- 'x\ny'")])
    #expect(
      try runs("w", "--", "-run", "a b") == [
        .line("pytest"), .words(["go", "test", "-run", "a b"]),
      ]
    )
    #expect(try runs("t", "--") == [.line("pytest")])
  }
}
