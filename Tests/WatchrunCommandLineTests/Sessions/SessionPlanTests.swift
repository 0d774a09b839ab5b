import FileObservation
import LiveReload
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

func readProject(_ text: String) throws -> Project {
  try ProjectReader.read(ProjectFileText(file: "watchrun.json", text: text.word)).project
}

/// The plan of a command line.
func plan(_ words: String..., in directory: Path = "/p") throws -> SessionPlan {
  try SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: directory)
}

/// The plan of a project with these tasks and pages.
func projectPlan(_ tasks: String, _ settings: Settings = Settings()) throws -> SessionPlan {
  try SessionPlan(
    readProject("{ tasks: { \(tasks) } }"), settings, in: "/p",
    files: ["/p/watchrun.json"], servesPages: true)
}

/// What a command line is converted to.
struct SessionPlanTests {
  @Test(arguments: [
    (["/usr/bin/make", "all"], "make"), (["make all | tee log"], "make"), (["A=1 ./x y"], "x"),
    (["A=1"], "A=1"), ([" "], "command"), (["./"], "command"), (["build"], "build"),
  ])
  func `a command is called after its program`(words: [String], name: String) {
    var settings = Settings()
    settings.command = words.map { Array($0.utf8) }
    #expect(settings.commandName == name)
    #expect(settings.taskTexts.map(\.name) == [name])
  }

  @Test func `a command is a graph of one task, which every change starts`() throws {
    let plan = try plan("-w", "src", "-e", "c", "--", "./app")
    #expect(plan.origin == .commandLine && plan.command == "app" && !plan.hasOnlyPages)
    #expect(plan.graph.order == ["app"] && plan.pages.isEmpty)
    let task = try #require(plan.graph["app"])
    #expect(task.triggers == .all && task.dependencies.isEmpty && task.readiness == nil)
    #expect(task.policy.busyPolicy == .queue && !task.isService && !task.isPostponed)
    #expect(plan.tasks.map(\.role) == [.command] && plan.tasks.map(\.words) == [task.command.words])
  }

  @Test func `a build is a task that a change restarts, and the command depends on it`() throws {
    let plan = try plan("--build", "make all", "--", "./app")
    #expect(plan.graph.order == ["build", "app"] && plan.command == "app")
    let build = try #require(plan.graph["build"])
    #expect(build.policy.busyPolicy == .restart && !build.isService && build.triggers == .all)
    #expect(build.command.words == [Array("make all".utf8)])
    #expect(plan.graph["app"]?.dependencies == ["build"])
    #expect(plan.tasks.map(\.role) == [.build, .command])
    #expect(plan.tasks.map(\.shownCommand) == ["make all", "./app"])
  }

  @Test(arguments: [[], ["--build", "make"], ["-r"], ["--serve", "public"]])
  func `what a command writes starts neither it nor its build`(options: [String]) throws {
    let words = options + ["--writes", "*.log", "--writes", "out/**", "--", "./app"]
    let plan = try SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: "/p")
    for task in plan.graph.tasks {
      func starts(_ path: Path) -> Bool {
        task.triggers.isTriggered(by: .init(path: path, kind: .modified, type: .file))
      }
      #expect(!starts("/p/out/a") && !starts("/p/src/a.log") && starts("/p/src/out/a"))
    }
  }

  @Test func `a command named like the build has another name`() throws {
    let plan = try plan("--build", "make", "-r", "--", "./build")
    #expect(plan.graph.order == ["build", "command"] && plan.command == "command")
    #expect(plan.tasks.map(\.command) == ["make", "./build"])
  }

  @Test(arguments: [
    (["-r"], true), (["-s", "HUP"], true), (["-o", "ignore"], false), (["--keep-alive"], false),
    ([], false),
  ])
  func `a command that changes restart or signal is a service`(options: [String], isService: Bool)
    throws
  {
    let words = (options + ["--", "./app"]).map { Array($0.utf8) }
    let task = try #require(SessionPlan(OptionParser.parse(words), in: "/p").graph["app"])
    #expect(task.isService == isService)
    // It may end by itself.
    #expect(task.policy.keepsAlive == options.contains("--keep-alive"))
  }

  @Test func `a command that watches by itself is a service that no change restarts`() throws {
    func task(_ words: String...) throws -> TaskDefinition {
      try #require(
        SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: "/p").graph["tsc"])
    }
    for task in [
      try task("tsc", "--watch"), try task("tsc -w"), try task("--serve", ".", "tsc", "-w"),
    ] {
      #expect(task.isService && task.policy.busyPolicy == .ignore && !task.policy.keepsAlive)
    }
    #expect(try task("-r", "tsc", "-w").policy.busyPolicy == .restart)
    #expect(try task("-o", "queue", "tsc", "-w").policy.busyPolicy == .queue)
    for task in [
      try task("tsc"), try task("-o", "queue", "tsc", "-w"), try task("--once", "tsc", "-w"),
      try task("--until-success", "tsc", "-w"), try task("--emit", "json", "tsc", "-w"),
      try task("--build", "make", "tsc", "-w"),
    ] {
      #expect(!task.isService && task.policy.busyPolicy == .queue)
    }
  }

  @Test func `hooks, times and signals are those of the command`() throws {
    let plan = try plan(
      "--build", "make", "--on-success", "a", "--on-failure", "b", "--timeout", "9s",
      "--stop-signal", "INT", "--", "./app")
    let (build, task) = (try #require(plan.graph["build"]), try #require(plan.graph["app"]))
    #expect(task.policy.onSuccess?.words == [Array("a".utf8)])
    #expect(task.policy.onFailure?.words == [[0x62]])
    #expect(task.policy.timeout == .seconds(9) && task.policy.stopPlan.signal == .interrupt)
    #expect(build.policy == RunPolicy(busyPolicy: .restart, stopPlan: task.policy.stopPlan))
  }

  @Test func `nothing runs before the first change with --postpone`() throws {
    #expect(try plan("--postpone", "--", "./app").graph.tasks.map(\.isPostponed) == [true])
    // A change starts both.
    #expect(
      try plan("--postpone", "--build", "make", "--", "./app").graph.tasks.map(\.isPostponed)
        == [true, true])
  }
}

/// What a command line with a page is converted to.
struct PagePlanTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectories("public")
  }

  private func readiness(_ words: String...) throws -> TaskDefinition.Readiness? {
    try SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: "/p").graph["app"]?
      .readiness
  }

  @Test(arguments: ["3000", "http://localhost:3000", "http://127.0.0.1:3000/", "http://[::1]:3000"])
  func `a restarted server is ready when its port accepts connections`(address: String) throws {
    let readiness = try #require(try readiness("--proxy", address, "-r", "--", "./app"))
    #expect(readiness.condition == .port(3000))
    // Somebody else may run the server.
    #expect(!readiness.detectsConflicts)
  }

  @Test func `no port of another machine, or of a command that ends, is checked`() throws {
    #expect(try readiness("--proxy", "http://example.com:3000", "-r", "--", "./app") == nil)
    #expect(try readiness("--proxy", "3000", "--", "./app") == nil)
    #expect(try readiness("--proxy", "3000", "--proxy", "/a=4000", "-r", "--", "./app") == nil)
    #expect(try readiness("-r", "--", "./app") == nil)
  }

  @Test func `a page depends on the command and its build`() throws {
    let plan = try plan("--proxy", "3000", "-r", "--build", "make", "--", "./app")
    #expect(plan.pages.map(\.dependencies) == [["build", "app"]])
    #expect(try self.plan("--proxy", "3000", "--", "./app").pages.map(\.dependencies) == [["app"]])
  }

  private func plan(_ words: String...) throws -> SessionPlan {
    try SessionPlan(OptionParser.parse(words.map { Array($0.utf8) }), in: directory.path)
  }

  @Test func `a page alone has an empty graph`() throws {
    let plan = try plan("--serve", "public")
    #expect(plan.graph == .empty && plan.hasOnlyPages && plan.command == nil)
    #expect(plan.pages.count == 1 && plan.pages.allSatisfy(\.dependencies.isEmpty))
  }

  @Test func `served files count even if git ignores them, and reload at once`() throws {
    let observation = try plan("--serve", "public").observation
    #expect(observation.paths == ["public"] && observation.sources == .defaults)
    #expect(observation.adaptiveQuietPeriod == .growing(.milliseconds(1) ... .milliseconds(100)))
    #expect(try plan("--serve", "public", "-I", "make").observation.sources == nil)
    #expect(try plan("--proxy", "80").observation.sources == nil)
  }

  @Test func `a command is started by its own changes, and the page by more`() throws {
    let plan = try plan(
      "--serve", "public", "-e", "c", "--events", "metadata", "--build", "make", "--", "./app")
    let tasks = plan.graph.tasks
    #expect(tasks.map(\.triggers) == Array(repeating: tasks[0].triggers, count: 2))
    #expect(tasks[0].triggers.kinds == [.metadata] && tasks[0].triggers != .all)
    #expect(plan.observation.kinds == Set(ChangeBatch.Kind.allCases))
    #expect(
      plan.observation.paths == [".", WatchedPath("public", mayBeMissing: true)]
        && !plan.observation.filters)
  }

  @Test func `without a page, the options of the command line apply to the observer`() throws {
    let observation = try plan("-w", "src", "-e", "c", "--", "./app").observation
    #expect(observation.paths == ["src"] && observation.filters && observation.ignores.isEmpty)
    #expect(observation.kinds == nil && observation.sources == nil)
    #expect(observation.adaptiveQuietPeriod == .adaptive)
  }

  @Test func `a command whose output is read for a page is told so, as any other`() throws {
    for options in [["--serve", "public"], ["--output", "failed"]] {
      let plan = try SessionPlan(
        OptionParser.parse((options + ["--", "./app"]).map { Array($0.utf8) }), in: directory.path)
      let usual = Console.outputVariables(.auto, isTerminal: Console.usesPseudoTerminals(.auto))
      #expect(plan.graph["app"]?.command.readOutputEnvironment.variables == usual)
    }
  }

  @Test func `output is read for a page, and for several tasks`() throws {
    #expect(try plan("--serve", "public", "--", "./app").reading == .always)
    #expect(try plan("-r", "--", "./app").reading == .whereNeeded)
    let task = "a: { run: 'x' }"
    #expect(try projectPlan(task).reading == .ofSeveralTasks)
    let page = "\(task), site: { serve: '.' }"
    #expect(try projectPlan(page).reading == .always)
  }

  @Test func `the output of a task that prints all is read if anything else needs it`() throws {
    var settings = Settings()
    (settings.outputMode, settings.showsTimes) = (.failed, true)
    #expect(try projectPlan("a: { run: 'x', output: 'all' }", settings).reading == .always)
  }

  @Test(
    arguments: [
      ("a: { run: 'x' }", .never), ("a: { run: 'x' }, b: { run: 'x' }", .auto),
      ("a: { run: 'x' }, site: { serve: '.' }", .auto),
      ("a: { run: 'x', output: 'failed' }", .auto),
      ("a: { run: 'x', service: true, ready: { line: 'up' } }", .auto),
    ] as [(String, StatusLineMode)])
  func `there is a status line only if no task writes to the terminal by itself`(
    tasks: String, mode: StatusLineMode
  ) throws {
    var plan = try projectPlan(tasks)
    // Not where these tests run at a terminal.
    if StatusLine.isPossible(.auto) { plan.readsOutput = plan.tasks.contains(where: \.holdsOutput) }
    #expect(plan.statusLine(Settings()) == mode)
  }

  @Test func `the name of a task and the time take a part of its pseudo-terminal`() throws {
    func columns(_ tasks: String, showsTimes: Bool) throws -> Int {
      let reporter = RunReporter(
        Console(shown: .problem, isColored: false, showsTimes: showsTimes), directory: "/p")
      reporter.setPlan(try projectPlan(tasks))
      return try #require(reporter.terminalSize(of: "a")).columns
    }
    let task = "a: { run: 'x', pty: true }"
    let all = try columns(task, showsTimes: false)
    #expect(try columns(task, showsTimes: true) == all - 13)
    #expect(try columns(task + ", bc: { run: 'x' }", showsTimes: true) == all - 18)
  }
}

/// What a project is converted to.
struct ProjectPlanTests {
  private func plan(_ text: String, servesPages: Bool = true) throws -> SessionPlan {
    try SessionPlan(
      readProject(text), Settings(), in: "/p", files: ["/p/watchrun.json"],
      servesPages: servesPages)
  }

  @Test func `messages show tasks in the order of the file`() throws {
    let plan = try plan(
      "{ tasks: { b: { run: ['make', 'b'], after: 'a' }, a: { run: 'make && x' } } }")
    #expect(plan.origin == .project && plan.command == nil)
    #expect(plan.tasks.map(\.name) == ["b", "a"] && plan.graph.order == ["a", "b"])
    #expect(plan.tasks.allSatisfy { $0.role == .task })
    #expect(plan.tasks.map(\.command) == ["make b", "make && x"])
  }

  @Test func `a project of pages alone has an empty graph`() throws {
    let plan = try plan("{ tasks: { site: { serve: '.' } } }")
    #expect(plan.hasOnlyPages && plan.graph.tasks.isEmpty && plan.pages.count == 1)
    #expect(try self.plan("{ tasks: { site: { serve: '.' } } }", servesPages: false).pages.isEmpty)
  }

  @Test func `the project file is observed, and all that any task counts`() throws {
    let observation = try plan(
      "{ ignore: ['out'], tasks: { a: { run: 'x', watch: 'src', events: ['metadata'] } } }"
    ).observation
    #expect(
      observation.paths == [
        WatchedPath("/p/src", mayBeMissing: true),
        WatchedPath("/p/watchrun.json", isRecursive: false, mayBeMissing: true),
      ])
    #expect(observation.ignores == ["out"] && observation.sources == nil && observation.filters)
    #expect(observation.kinds == Set(ChangeBatch.Kind.allCases))
  }

  @Test func `a task for each directory writes in its own`() throws {
    let directory = try projectDirectory([
      "a/x.json": "", "b/x.json": "",
      "watchrun.json":
        "{ tasks: { t: { run: 'x', each: '*/x.json', writes: 'dist/', watch: 'c' }, "
        + "u: { run: 'x', watch: '.', writes: 'dist/' } } }",
    ])
    let read = try ProjectSource(nil, directory: directory.path).read()
    let project = try #require(read)
    let plan = try SessionPlan(
      project, Settings(), in: directory.path, files: [], servesPages: true)
    func writers(_ name: String) -> [String] {
      let path = directory.path.appending(name)
      return plan.graph.tasks.filter {
        $0.triggers.writes.contains(path, isDirectory: false, watched: $0.triggers.watched)
      }.map(\.name)
    }
    #expect(writers("a/dist/x") == ["t:a", "u"])
    #expect(writers("b/lib/dist/x") == ["t:b", "u"])
    #expect(writers("c/dist/x") == ["u"] && writers("a/x") == [])
  }
}
