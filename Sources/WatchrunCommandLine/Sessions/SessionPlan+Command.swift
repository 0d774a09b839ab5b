import ActionRunning
import FileObservation
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts a command line to a plan: of one task, of a build and a command that depends on it, or of a
// page alone.

extension SessionPlan {
  init(_ settings: Settings, in directory: Path) throws(Failure) {
    self =
      settings.isForPageAlone
      ? try SessionPlan(pageOf: settings, in: directory)
      : try SessionPlan(commandOf: settings, in: directory)
  }

  private init(commandOf settings: Settings, in directory: Path) throws(Failure) {
    tasks = settings.taskTexts
    var task = TaskDefinition(
      settings.commandName, alone: settings.makeCommand(), settings.runPolicy)
    task.isPostponed = settings.isPostponed
    if settings.watchesByItself(in: directory) {
      // No change waits for its end, and neither do pages and questions.
      task.isService = true
      task.policy.busyPolicy = .ignore
    }
    task.readiness = task.isService ? settings.readinessOfServer : nil
    if settings.hasPage { task.triggers = settings.commandTriggers(in: directory) }
    if !settings.writes.isEmpty {
      task.triggers.watched = settings.absoluteWatched(in: directory)
      task.triggers.writes = DeclaredWrites(settings.writes, base: directory)
    }
    let build = settings.build.map { (name: Settings.buildName, command: settings.makeLine($0)) }
    origin = .commandLine
    readsOutput = settings.readsOutput
    graph = TaskGraph(task, build: build)
    pages =
      try settings.servedPage(in: directory, dependencies: Set(tasks.map(\.name))).map { [$0] }
      ?? []
    observation = Observation(paths: settings.effectiveWatched)
    if settings.hasPage {
      // The page counts other changes than the command.
      observation.paths = settings.watchedWithPage
      observation.kinds = ChangeBatch.Kind.usual.union(task.triggers.kinds)
      observation.filters = false
    }
    if let log = settings.log {
      for task in tasks {
        observation.logs[task.name] = log.log(of: task.name).absolute(from: directory)
      }
    }
  }

  private init(pageOf settings: Settings, in directory: Path) throws(Failure) {
    origin = .commandLine
    graph = .empty
    tasks = []
    pages = try settings.servedPage(in: directory).map { [$0] } ?? []
    observation = Observation(paths: settings.watchedWithPage)
    // Served files count even if git ignores them.
    if settings.page.served != nil {
      observation.sources = settings.ignoreSources.intersection(.defaults)
    }
    // A reload is cheap, and a second one replaces the first while it is under way.
    observation.adaptiveQuietPeriod = .growing(.milliseconds(1) ... .milliseconds(100))
  }
}

// The names of the tasks of a command line: its command, and the build that precedes it.
extension Settings {
  fileprivate static let buildName = "build"

  /// The last path component of the program.
  var commandName: String {
    let program = Self.program(of: command)
    let isTaken = program == Self.buildName && build != nil
    return isTaken || program.isEmpty ? "command" : program
  }

  /// The program of a command, or of a shell line, whose variables precede it.
  private static func program(of words: [[UInt8]]) -> String {
    let first = words.first ?? []
    let parts = words.count == 1 ? first.split(separator: UInt8(ascii: " ")) : [first[...]]
    let program = parts.first { !$0.contains(UInt8(ascii: "=")) } ?? parts.first ?? []
    return Path(bytes: program).lastComponent.printable
  }

  var taskTexts: [TaskText] {
    func text(_ name: String, _ role: TaskText.Role, _ text: String) -> TaskText {
      TaskText(
        name: name, role: role, holdsOutput: self.outputMode == .failed,
        usesPseudoTerminal: givesPseudoTerminals, command: text, shownCommand: text)
    }
    var own = text(commandName, .command, command.shownCommand)
    own.words = command
    return (build.map { [text(Self.buildName, .build, $0.printable)] } ?? []) + [own]
  }
}

extension TaskDefinition {
  /// Whether no change leads to a restart while it is up.
  var watchesByItself: Bool { isService && policy.busyPolicy == .ignore }
}

extension Settings {
  fileprivate var runPolicy: RunPolicy {
    var policy = RunPolicy(
      busyPolicy: chosenBusyPolicy, stopPlan: self.stopPlan, timeout: self.timeout)
    policy.keepsAlive = keepsAlive
    policy.onSuccess = self.onSuccess.map(makeLine)
    policy.onFailure = self.onFailure.map(makeLine)
    return policy
  }

  /// Whether the command sees changes by itself, and no option says what a change during its run leads to.
  fileprivate func watchesByItself(in directory: Path) -> Bool {
    chosenBusyPolicy == nil && completion == .never && build == nil
      && changeDelivery == .environment
      && ProjectDetection.Script(command, in: ProjectDirectory(path: directory)).watchesByItself
  }

  /// The server of `--proxy` is ready when it accepts connections. It may be another program's. Which
  /// of several is the command is not known.
  fileprivate var readinessOfServer: TaskDefinition.Readiness? {
    let ports = Set(page.rules.map(\.server).filter(\.isLoopback).map(\.port))
    guard let port = ports.first, ports.count == 1 else { return nil }
    var readiness = TaskDefinition.Readiness(.port(port))
    readiness.detectsConflicts = false
    return readiness
  }

  func makeCommand() -> Command {
    // A command in a background process group that reads from the terminal is stopped by the kernel. A
    // list on standard input has been read to its end, and so has /dev/null, which is nothing to inherit.
    let inherits =
      Terminal.isTerminal(STDIN_FILENO)
      ? isInteractive : filesFrom != "-" && !Self.standardInputIsNull
    let port = socket.map {
      Command.EnvironmentVariable(Project.Task.portVariable, "\($0.port)")
    }
    var command = makeCommand(command, isRunByShell ? shellForm : .direct, port)
    command.inheritsStandardInput = inherits
    command.socket = socket
    command.takesTerminal = isInteractive
    command.firstPathAtStart = firstOfList
    return command
  }

  private static var standardInputIsNull: Bool {
    guard let input = try? FileStatus(of: "/dev/stdin", followsLinks: true),
      let null = try? FileStatus(of: "/dev/null")
    else { return false }
    return (input.device, input.inode) == (null.device, null.inode)
  }

  /// Makes a build or a hook from a shell line. Only the command inherits standard input.
  fileprivate func makeLine(_ line: [UInt8]) -> Command { makeCommand([line], shellForm) }

  private func makeCommand(
    _ words: [[UInt8]], _ form: Command.Form, _ port: Command.EnvironmentVariable? = nil
  ) -> Command {
    let own = outputVariables + self.fileVariables + [port].compactMap(\.self)
    return Command(
      words: words, form: form, environment: Command.Environment(own + self.environment),
      inheritsStandardInput: false
    ).describingChanges(by: changeDelivery)
  }

  /// Variables for commands whose output is forwarded.
  private var outputVariables: [Command.EnvironmentVariable] {
    readsOutput ? Console.outputVariables(colorMode, isTerminal: givesPseudoTerminals) : []
  }

  /// Whether commands whose output is read write to pseudo-terminals.
  var givesPseudoTerminals: Bool {
    self.usesPseudoTerminal ?? Console.usesPseudoTerminals(colorMode)
  }

  /// The shell for the shell lines of the command line.
  private var shellForm: Command.Form {
    if case .always(let named) = self.shell { .shell(named) } else { .shell(userShell.name) }
  }
}
