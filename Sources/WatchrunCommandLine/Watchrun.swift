import ActionRunning
import Dispatch
import SystemCalls
import WatchrunSettings

/// The program `watchrun`.
public enum Watchrun {
  /// Parses the command line, does what it asks for, and exits.
  public static func main() -> Never {
    let began = FileTime.processStart()
    csystem_share_free_memory()
    openMissingStandardDescriptors()
    let caller = CallerSetup()
    // A closed pipe is noticed by the write that fails.
    Signal(rawValue: SIGPIPE).ignore()
    Signal(rawValue: SIGCHLD).restoreDefaultAction()
    do throws(Failure) {
      start(
        try OptionParser.parse(
          Array(processArguments().dropFirst()), in: (try? currentDirectory()) ?? "/"),
        began: began,
        caller: caller)
    } catch {
      checkRequirements()
      let console = Console(shown: .problem, isColored: false)
      console.say(.problem, error.message)
      console.flush()
      exit(ExitCode.usage)
    }
  }

  private static func start(
    _ settings: Settings, began: FileTime, caller: CallerSetup
  ) -> Never {
    if case .manual(let manual) = settings.task { manual.showFormatted() }
    if let text = constantAnswer(to: settings.task) {
      if let note = settings.noteBesideVersion { sayWithoutThreads(note) }
      answer { () throws(Failure) in
        try writeAnswer(Array(text.utf8))
        return ExitCode.success
      }
    }
    if case .ask(let verb) = settings.task {
      answer { () throws(Failure) in
        try SessionQuestion(settings, verb).ask(in: try enterDirectory(settings))
      }
    }
    checkRequirements()
    let console = Console(settings)
    do throws(Failure) {
      let directory = try enterDirectory(settings)
      let listed = try addFileList(to: settings, in: directory, console)
      let settings = try listed.resolvingTasks(
        in: directory, isPiped: isPipeOrSocket(STDOUT_FILENO)
      ) { console.say(.news, $0) }
      switch settings.task {
      case .explain:
        try Explanation(settings, console: console, directory: directory).print()
        exit(ExitCode.success)
      case .doctor:
        try Doctor(settings: settings, directory: directory).print()
        exit(ExitCode.success)
      case .listTasks, .initialize, .check, .schema:
        let source = ProjectSource(settings, directory: directory)
        exit(
          try ProjectQuestions(settings: settings, console: console, source: source).answer())
      case .run, .help, .version, .manual, .completions, .ask:
        break
      }
      try run(
        settings, console, directory: directory, began: began, caller: caller)
    } catch {
      console.report(error)
      console.flush()
      exit(error.status)
    }
  }

  private static func run(
    _ settings: Settings, _ console: Console, directory: Path, began: FileTime,
    caller: CallerSetup
  ) throws(Failure) -> Never {
    let source = ProjectSource(settings, directory: directory)
    let project =
      settings.isForProject ? try source.load(settings) { console.say(.news, $0) } : nil
    // The file may set the colors.
    let projectConsole = project.map { Console(settings.adding($0.defaults)) }
    let session = Session(
      settings, console: projectConsole ?? console, directory: directory, began: began,
      caller: caller, guardian: startGuardian(settings, console))
    if let mode = settings.printMode {
      try PrintSession(session, mode).begin()
      dispatchMain()
    }
    if project == nil, settings.needsUserShell, let problem = settings.userShell.problem {
      session.console.problem(problem)
    }
    // Job control handles the stop signals itself.
    Signal.blockAll()
    try RunSession(session, project, of: source).begin()
    sleepForever()
  }

  /// Must be called while there is only one thread. `nil` if nothing is run that could be left over.
  private static func startGuardian(_ settings: Settings, _ console: Console) -> Guardian? {
    if settings.printMode != nil { return nil }
    do throws(SystemError) {
      return try Guardian.start(settings.stopPlan)
    } catch {
      console.problem(
        "cannot start the guardian process (\(error.reason)): "
          + "if watchrun is killed, the command keeps running")
      return nil
    }
  }

  private static func enterDirectory(_ settings: Settings) throws(Failure) -> Path {
    do throws(SystemError) {
      if let directory = settings.directory { try changeDirectory(to: directory) }
      return try currentDirectory()
    } catch {
      throw .launch(
        "cannot change to the directory \(error.path ?? "."): \(error.reason)", ExitCode.noInput)
    }
  }

  private static func addFileList(
    to settings: Settings, in directory: Path, _ console: Console
  ) throws(Failure) -> Settings {
    guard let file = settings.filesFrom else { return settings }
    let list = try FileList.read(
      from: file, separatedByNUL: settings.separatesByNUL, in: directory)
    for problem in list.problems { console.problem(problem) }
    // The list has been read to its end, so keys can be read from the terminal.
    if file == "-" && settings.printMode == nil { _ = Terminal.becomeStandardInput() }
    var settings = settings
    settings.watched += list.watched
    settings.firstOfList = list.watched.first?.path
    return settings
  }

  /// Exits with a status, or with that of a failure. Takes no thread.
  private static func answer(_ status: () throws(Failure) -> Int32) -> Never {
    do throws(Failure) {
      exit(try status())
    } catch {
      sayWithoutThreads(error.message)
      exit(error.status)
    }
  }

  /// The answer that depends on nothing but the program; `nil` if there is none.
  private static func constantAnswer(to task: Settings.Task) -> String? {
    switch task {
    case .help: HelpText.full
    case .version: HelpText.version + "\n"
    case .manual(let manual): manual.text
    case .completions(let shell): shell.script
    case .run, .explain, .doctor, .listTasks, .initialize, .check, .schema, .ask: nil
    }
  }
}
