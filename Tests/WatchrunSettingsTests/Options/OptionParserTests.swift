import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Testing

@testable import WatchrunSettings

func parse(_ words: String...) throws -> Settings {
  try OptionParser.parse(words.map { Array($0.utf8) })
}

/// One way to write an option, and what must hold for the settings.
struct Spelling: Sendable, CustomTestStringConvertible {
  let words: [String]
  let holds: @Sendable (Settings) -> Bool

  var testDescription: String { words.joined(separator: " ") }

  init(_ words: String..., holds: @escaping @Sendable (Settings) -> Bool) {
    self.words = words
    self.holds = holds
  }

  /// All spellings of an option that takes a value.
  static func all(
    _ short: String?, _ long: String, _ value: String,
    _ holds: @escaping @Sendable (Settings) -> Bool
  ) -> [Spelling] {
    let shorts = short.map {
      [
        Spelling($0, value, holds: holds), Spelling($0 + value, holds: holds),
        Spelling("\($0)=\(value)", holds: holds),
        Spelling("-v" + $0.dropFirst(), value, holds: holds),
      ]
    }
    return (shorts ?? []) + [
      Spelling(long, value, holds: holds), Spelling("\(long)=\(value)", holds: holds),
    ]
  }

  /// All spellings of an option that takes no value.
  static func all(
    _ short: String?, _ long: String, _ holds: @escaping @Sendable (Settings) -> Bool
  ) -> [Spelling] {
    let shorts = short.map {
      [Spelling($0, holds: holds), Spelling("-v" + $0.dropFirst(), holds: holds)]
    }
    return (shorts ?? []) + [Spelling(long, holds: holds)]
  }
}

struct OptionParserTests {
  private static let watching =
    Spelling.all("-w", "--watch", "dir") { $0.watched == [WatchedPath("dir")] }
    + Spelling.all("-W", "--watch-shallow", "dir") {
      $0.watched == [WatchedPath("dir", isRecursive: false)]
    }
    + Spelling.all("-L", "--follow-symlinks") { $0.followsLinks }
    + Spelling.all(nil, "--poll") { $0.polling == Polling(.always) }
    + [
      Spelling("--poll=200ms") {
        $0.polling == Polling(.always, interval: .milliseconds(200) ... .milliseconds(200))
      }
    ]
    + Spelling.all(nil, "--files-from", "list") { $0.filesFrom == "list" }
    + Spelling.all("-C", "--directory", "dir") { $0.directory == "dir" }

  private static let filtering =
    Spelling.all("-e", "--exts", "swift,md") {
      $0.extensions == [Array("swift".utf8), Array("md".utf8)]
    }
    + Spelling.all("-f", "--filter", "*.c") { $0.filters == [GlobPattern(line: "*.c".utf8)] }
    + Spelling.all("-i", "--ignore", "*.o") { $0.ignores == [GlobPattern(line: "*.o".utf8)] }
    + Spelling.all(nil, "--writes", "log/**") { $0.writes == [GlobPattern(line: "log/**".utf8)] }
    + Spelling.all(nil, "--no-vcs-ignore") { $0.ignoreSources == .all.subtracting(.versionControl) }
    + Spelling.all(nil, "--no-project-ignore") { $0.ignoreSources == .all.subtracting(.project) }
    + Spelling.all(nil, "--no-global-ignore") { $0.ignoreSources == .all.subtracting(.global) }
    + Spelling.all(nil, "--no-default-ignore") { $0.ignoreSources == .all.subtracting(.defaults) }
    + Spelling.all(nil, "--ignore-nothing") { $0.ignoreSources == [] }
    + Spelling.all(nil, "--explain") { $0.task == .explain }
    + Spelling.all(nil, "--events", "create,rename") { $0.kinds == [.created, .renamed] }
    + Spelling.all(nil, "--skip-unchanged") { $0.skipsUnchanged }

  private static let timing =
    Spelling.all("-d", "--debounce", "50ms") { $0.quietPeriod == .fixed(.milliseconds(50)) }
    + Spelling.all("-d", "--debounce", "auto") { $0.quietPeriod == .adaptive }
    + Spelling.all("-d", "--debounce", "0") { $0.quietPeriod == .fixed(.zero) }
    + Spelling.all(nil, "--max-wait", "2s") { $0.maximumWait == .seconds(2) }
    + Spelling.all("-p", "--postpone") { $0.isPostponed }
    + Spelling.all(nil, "--once") { $0.completion == .firstRun }
    + Spelling.all(nil, "--exit-on-error") { $0.completion == .firstFailure }
    + Spelling.all(nil, "--until-success") { $0.completion == .firstSuccess }

  private static let running =
    Spelling.all("-o", "--on-busy", "ignore") { $0.busyPolicy == .ignore }
    + Spelling.all("-o", "--on-busy", "queue") { $0.busyPolicy == .queue }
    + Spelling.all("-o", "--on-busy", "signal") { $0.busyPolicy == .signal(.terminate) }
    + Spelling.all("-r", "--restart") { $0.busyPolicy == .restart }
    + Spelling.all("-s", "--signal", "HUP") { $0.busyPolicy == .signal(.hangup) }
    + Spelling.all(nil, "--stop-signal", "INT") { $0.stopPlan.signal == .interrupt }
    + Spelling.all(nil, "--stop-timeout", "3s") { $0.stopPlan.timeout == .seconds(3) }
    + Spelling.all(nil, "--emit", "json") { $0.changeDelivery == .json }
    + Spelling.all(nil, "--emit", "lines") { $0.changeDelivery == .lines(separatedByNUL: false) }
    + Spelling.all(nil, "--emit", "none") { $0.changeDelivery == Command.ChangeDelivery.none }
    + Spelling.all(nil, "--emit", "env") { $0.changeDelivery == .environment }
    + Spelling.all(nil, "--timeout", "5s") { $0.timeout == .seconds(5) }
    + Spelling.all(nil, "--keep-alive") { $0.isKeptAlive }
    + Spelling.all(nil, "--build", "make -j4") { $0.build == Array("make -j4".utf8) }
    + Spelling.all(nil, "--on-success", "beep") { $0.onSuccess == Array("beep".utf8) }
    + Spelling.all(nil, "--on-failure", "beep 2") { $0.onFailure == Array("beep 2".utf8) }
    + Spelling.all(nil, "--shell", "none") { $0.shell == .never }
    + Spelling.all(nil, "--shell", "zsh") { $0.shell == .always(Array("zsh".utf8)) }
    + Spelling.all(nil, "--env-file", ".env") { $0.environmentFiles == [".env"] }
    + Spelling.all("-E", "--env", "A=b=c") {
      $0.environment == [.init(name: Array("A".utf8), value: Array("b=c".utf8))]
    }
    + Spelling.all("-I", "--interactive") { $0.isInteractive }
    + Spelling.all(nil, "--listen", "8080") {
      $0.listen?.description == "127.0.0.1:8080" && $0.busyPolicy == .restart
    }

  private static let output =
    Spelling.all("-c", "--clear") { $0.clearsScreen }
    + Spelling.all("-q", "--quiet") { $0.isQuiet && !$0.isVerbose }
    + Spelling.all("-v", "--verbose") { $0.isVerbose && !$0.isQuiet }
    + Spelling.all(nil, "--no-keys") { !$0.readsKeys }
    + Spelling.all(nil, "--color", "never") { $0.colorMode == .never }
    + Spelling.all(nil, "--diagnostics", "e.txt") {
      $0.diagnosticsFile == "e.txt" && $0.readsOutput
    }
    + [
      Spelling("--status-line") { $0.statusLine == .always },
      Spelling("--status-line=never") { $0.statusLine == .never },
      Spelling("--pty") { $0.usesPseudoTerminal == true },
    ]
    + Spelling.all(nil, "--output", "failed") { $0.outputMode == .failed && $0.readsOutput }
    + Spelling.all(nil, "--log", "{task}.log") { $0.log == "{task}.log" && $0.readsOutput }
    + Spelling.all(nil, "--bell") { $0.ringsBell }
    + [
      Spelling("-N") { $0.notifyMode == .failure },
      Spelling("--notify") { $0.notifyMode == .failure },
      Spelling("--notify=change") { $0.notifyMode == .change },
      Spelling("-Nalways") { $0.notifyMode == .always },
      Spelling("-vN=always") { $0.notifyMode == .always },
    ]
    + Spelling.all("-h", "--help") { $0.task == .help }
    + Spelling.all(nil, "--timestamps") { $0.showsTimes }
    + Spelling.all("-V", "--version") { $0.task == .version }
    + Spelling.all(nil, "--completions", "fish") { $0.task == .completions(.fish) }

  private static let page =
    Spelling.all(nil, "--serve", "public") { $0.page.served == "public" }
    + Spelling.all(nil, "--proxy", ":3000") { $0.page.upstream == ServerAddress(port: 3000) }

  private static let spellings = watching + filtering + timing + running + page + output

  @Test(arguments: spellings)
  func `an option is parsed in every spelling`(spelling: Spelling) throws {
    let words = (spelling.words + ["make", "test"]).map { Array($0.utf8) }
    let settings = try OptionParser.parse(words)
    #expect(spelling.holds(settings))
    #expect(settings.command == [Array("make".utf8), Array("test".utf8)])
  }

  @Test(arguments: spellings.filter { $0.words.contains { $0.hasPrefix("--") } })
  func `an option has no effect unless it is given`(spelling: Spelling) throws {
    let defaults: Set = [
      "--debounce auto", "--debounce=auto", "--on-busy queue", "--on-busy=queue", "--emit env",
      "--emit=env",
    ]
    #expect(spelling.holds(try parse("make")) == defaults.contains(spelling.testDescription))
  }

  @Test func `every option of the table is tested`() {
    let tested = Set(
      Self.spellings.flatMap(\.words).filter { $0.hasPrefix("--") }
        .map { String($0.dropFirst(2).prefix { $0 != "=" }) })
    let left = Set(Setting.options.map(\.long)).subtracting(tested)
    #expect(
      left == [
        "print", "null", "task", "jobs", "fresh", "config", "list-tasks", "init", "check", "schema",
        "port",
        "host",
        "fallback", "header", "listing", "open", "editor", "man", "json", "doctor", "wait",
        "status", "send", "logs", "follow", "lines",
      ],
      "these need a page or exclude a command, and are tested below")
  }

  @Test(arguments: [
    (
      ["-i", "-e", "swift", "--", "true"],
      "-i needs a value: -i GLOB; '-e' is an option (if it is meant: -i=-e)"
    ),
    (
      ["--stop-signal", "--restart"],
      "--stop-signal needs a value: --stop-signal SIGNAL; '--restart' is an option "
        + "(if it is meant: --stop-signal=--restart)"
    ),
  ])
  func `an option is no value of the one before`(words: [String], message: String) throws {
    #expect(throws: Failure.usage(message)) {
      try OptionParser.parse(words.map { Array($0.utf8) })
    }
    #expect(try parse("-i=-e", "make").ignores == [GlobPattern(line: "-e".utf8)])
    #expect(try parse("-i", "-x", "make").ignores == [GlobPattern(line: "-x".utf8)])
  }

  @Test func `a question takes tasks, and refuses options that belong to the session`() throws {
    let settings = try parse("--wait=2m", "--lines", "7", "--json", "build", "test")
    #expect(settings.task == .ask(.wait))
    let later = try parse("--wait=2m", "build", "--lines", "7", "test", "--json")
    #expect(later.command == settings.command && later.outputLines == 7)
    #expect(later.given.keys.sorted() == settings.given.keys.sorted())
    #expect(settings.questionTime == .seconds(120))
    #expect(settings.outputLines == 7)
    #expect(settings.command == ["build", "test"].map { Array($0.utf8) })
    #expect(try parse("-C", "p", "--status").task == .ask(.status))
    #expect(try parse("--send", "restart", "web").task == .ask(.restart))
    #expect(try parse("--send=hold=2m").questionTime == .seconds(120))
    #expect(try parse("--status", "--follow", "--help").task == .help)
    #expect(try parse("--status", "--lines", "5", "--version").task == .version)
    let errors = [
      ["--wait", "--status"]: "--wait and --status exclude each other; remove one of them",
      ["--wait", "-r"]: "--wait asks a session that runs already, so -r has no effect; "
        + "remove one of them",
      ["--lines", "5", "make"]: "--lines needs --wait, --status or --logs",
      ["--status", "--lines", "x"]: "--lines: 'x' is not a number from 0 to 100000",
      ["--send", "run=1s"]: "--send: run takes no value; only hold=TIME does",
      ["--send", "hold=1h"]: "--send: a hold lasts at most 10m",
      ["--send", "explode"]: "--send: 'explode' is not one of: run, stop, restart, pause, resume, "
        + "reload, hold, release",
      ["--wait", "--follow"]: "--follow needs --status or --logs",
      ["--wait", "500ms"]: "--wait takes its value after '=': --wait=500ms; "
        + "the quiet period is set with -d",
    ]
    for (words, message) in errors {
      #expect(throws: Failure.usage(message)) {
        try OptionParser.parse(words.map { Array($0.utf8) })
      }
    }
  }

  @Test func `a page needs no command, and has options of its own`() throws {
    let settings = try parse(
      "--serve", "public", "--port=4000", "--host", "0.0.0.0", "--host=a.local", "--open",
      "--editor", "code -g")
    #expect(settings.page.served == "public" && settings.page.port == 4000)
    #expect(settings.page.hosts == ["0.0.0.0", "a.local"])
    #expect(settings.opensBrowser && settings.editor == "code -g")
    #expect(settings.isForPageAlone && !settings.isForProject)
    let withCommand = try parse("--proxy", "3000", "-r", "--", "./server")
    #expect(withCommand.hasPage && !withCommand.isForPageAlone && !withCommand.isForProject)
    let headers = try parse("--serve=a", "--header", "a-b: 1", "--header=A-B:2", "--header", "C:")
    #expect(headers.page.headers.map { "\($0.name) \($0.value)" } == ["A-B 2", "C "])
    let rules = try parse("--proxy", "1", "--proxy", "/a/=2", "--proxy=/a=h:3/x", "--proxy", "4")
    #expect(rules.page.rules.map { "\($0.path) \($0.server)" } == ["/a h:3/x", "/ localhost:4"])
    #expect(try parse("--open", "--editor", "x").isForProject, "a project may have pages")
    #expect(try !parse("make").hasPage)
  }

  @Test func `printing needs no command`() throws {
    #expect(try parse("--print", "json").printMode == .json)
    let settings = try parse("--print=lines", "-0")
    #expect(settings.printMode == .lines && settings.separatesByNUL)
    #expect(try parse("--null", "--print=lines").separatesByNUL)
    #expect(try parse("-0", "--print=json").separatesByNUL)
    #expect(try parse("-0", "--explain", "path").separatesByNUL)
  }

  @Test func `a project needs no command`() throws {
    #expect(try parse().isForProject)
    #expect(try !parse("make").isForProject && !parse("--print", "json").isForProject)
    let settings = try parse("-t", "a", "--task=b", "--config", "x.json")
    #expect(settings.taskNames == ["a", "b"] && settings.projectFile == "x.json")
    #expect(settings.isForProject)
    let questions: [(String, Settings.Task)] = [
      ("--list-tasks", .listTasks), ("--init", .initialize), ("--check", .check),
      ("--schema", .schema),
    ]
    for (word, task) in questions { #expect(try parse(word).task == task) }
  }

  @Test func `only an answer is printed as JSON`() throws {
    #expect(try parse("--list-tasks", "--json").answersInJSON)
    #expect(try parse("--json", "--help").task == .help)
    for words in [["--json"], ["--json", "make"], ["--json", "--check"], ["--json", "-v"]] {
      let error = Failure.usage(
        "--json needs --list-tasks, --doctor, --wait or --status; for changes: --print json")
      #expect(throws: error) {
        try OptionParser.parse(words.map { Array($0.utf8) })
      }
    }
  }

  @Test func `the manual has two sections, the first of which is the default`() throws {
    #expect(try parse("--man").task == .manual(.command))
    #expect(try parse("--man=5").task == .manual(.projectFile))
    #expect(throws: Failure.self) { try parse("--man=2") }
  }

  @Test func `completions for an unknown shell name the known ones`() {
    #expect(throws: Failure.usage("--completions: 'tcsh' is not one of: bash, zsh, fish")) {
      try parse("--completions", "tcsh")
    }
  }

  @Test func `emitted lines may be separated by NULs`() throws {
    #expect(
      try parse("-0", "--emit", "lines", "make").changeDelivery == .lines(separatedByNUL: true))
  }

  @Test(arguments: ["usr1", "SIGUSR1", "SigUsr1", "USR1", "10"])
  func `a signal is given by its name in any spelling, or by its number`(name: String) throws {
    #expect(try parse("-s", name, "make").busyPolicy == .signal(Signal(rawValue: 10)))
    #expect(try parse("--stop-signal", name, "make").stopPlan.signal == Signal(rawValue: 10))
  }

  @Test func `the command begins with the first word that is not an option`() throws {
    let settings = try parse("-q", "make", "-v", "--help", "--", "-w")
    #expect(settings.command == ["make", "-v", "--help", "--", "-w"].map { Array($0.utf8) })
    #expect(settings.isQuiet && settings.task == .run)
  }

  @Test func `two dashes end the options`() throws {
    #expect(try parse("-q", "--", "-v", "--").command == ["-v", "--"].map { Array($0.utf8) })
    #expect(try parse("-").command == [Array("-".utf8)])
  }

  @Test func `short options can be combined, the last with a value`() throws {
    let settings = try parse("-crvw", "src", "-qe=c,h", "make")
    #expect(settings.clearsScreen && settings.busyMode == .restart)
    #expect(settings.isQuiet && !settings.isVerbose, "the later of the two counts")
    #expect(settings.watched == [WatchedPath("src")])
    #expect(settings.extensions == [Array("c".utf8), Array("h".utf8)])
  }

  @Test func `repeatable options add up`() throws {
    let settings = try parse("-w", "a", "-W", "b", "-e", "c", "-e", "h", "-E", "A=", "make")
    #expect(settings.watched == [WatchedPath("a"), WatchedPath("b", isRecursive: false)])
    #expect(settings.extensions.count == 2)
    #expect(settings.environment == [.init(name: Array("A".utf8), value: [])])
  }

  @Test func `a value may begin with a dash and hold any byte`() throws {
    let settings = try OptionParser.parse([Array("-w".utf8), [0x2D, 0xFF], Array("x".utf8)])
    #expect(settings.watched == [WatchedPath(Path(bytes: [0x2D, 0xFF]))])
  }

  @Test func `the default kinds of changes depend on the mode`() throws {
    #expect(try !parse("make").effectiveKinds.contains(.metadata))
    #expect(try parse("--print", "json").effectiveKinds.contains(.metadata))
    #expect(try parse("--print", "json", "--events", "create").effectiveKinds == [.created])
    #expect(try !parse("--print", "lines", "--skip-unchanged").effectiveKinds.contains(.metadata))
    let narrowed = try parse("--print", "lines", "--skip-unchanged", "--events", "metadata")
    #expect(narrowed.effectiveKinds == [.metadata])
    #expect(try parse("--exit-on-error", "--until-success", "make").completion == .firstRun)
  }
}
