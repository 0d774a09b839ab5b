import ActionRunning
import FileObservation
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts a command line to a plan: of one task, of a build and a command that depends on it, or of a
// page alone.

extension SessionPlan {
  init(_ settings: Settings, in directory: Path) throws(Failure) {
    let isAlone = settings.isForPageAlone
    origin = .commandLine
    tasks = isAlone ? [] : settings.taskTexts
    graph = isAlone ? .empty : settings.graph(in: directory)
    readsOutput = settings.readsOutput
    pages =
      try settings.servedPage(in: directory, dependencies: Set(tasks.map(\.name))).map { [$0] }
      ?? []
    observation = Observation(paths: settings.watchedWithPage)
    keepLogs(in: directory)
    if isAlone {
      // Served files count even if git ignores them.
      if settings.page.served != nil {
        observation.sources = settings.ignoreSources.intersection(.defaults)
      }
      // A reload is cheap, and a second one replaces the first while it is under way.
      observation.adaptiveQuietPeriod = .growing(.milliseconds(1) ... .milliseconds(100))
    } else if settings.hasPage {
      // The page counts other changes than the command.
      observation.kinds = ChangeBatch.Kind.usual.union(settings.effectiveKinds)
      observation.filters = false
    }
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
    let (maker, shown) = (maker, command.shownCommand)
    var own = maker.text(commandName, shown, shown: shown)
    (own.role, own.words) = (.command, command)
    guard let line = build?.printable else { return [own] }
    var build = maker.text(Self.buildName, line, shown: line)
    build.role = .build
    return [build, own]
  }
}

extension TaskDefinition {
  /// Whether no change leads to a restart while it is up.
  var watchesByItself: Bool { isService && policy.busyPolicy == .ignore }
}

extension Settings {
  /// The graph of the command, and of the build on which it depends.
  fileprivate func graph(in directory: Path) -> TaskGraph {
    let maker = maker
    var policy = maker.policy(chosenBusyPolicy)
    policy.keepsAlive = self.isKeptAlive
    var task = TaskDefinition(commandName, alone: makeCommand(maker), policy)
    task.isPostponed = self.isPostponed
    if watchesByItself(in: directory) {
      // No change waits for its end, and neither do pages and questions.
      task.isService = true
      task.policy.busyPolicy = .ignore
    }
    task.readiness = task.isService ? readinessOfServer : nil
    if hasPage { task.triggers = commandTriggers(in: directory) }
    if !self.writes.isEmpty {
      task.triggers.watched = absoluteWatched(in: directory)
      task.triggers.writes = DeclaredWrites(self.writes, base: directory)
    }
    return TaskGraph(task, build: build.map { (name: Self.buildName, command: maker.line($0)) })
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
    let ports = Set(page.rules.map(\.server).filter(\.isLocal).map(\.port))
    guard let port = ports.first, ports.count == 1 else { return nil }
    var readiness = TaskDefinition.Readiness(.port(port))
    readiness.detectsConflicts = false
    return readiness
  }

  fileprivate func makeCommand(_ maker: CommandMaker) -> Command {
    // A command in a background process group that reads from the terminal is stopped by the kernel. A
    // list on standard input has been read to its end, and so has /dev/null, which is nothing to inherit.
    let inherits =
      Terminal.isTerminal(STDIN_FILENO)
      ? self.isInteractive : filesFrom != "-" && !Self.standardInputIsNull
    var command = maker.command(command, isRunByShell ? .shell(maker.shell) : .direct)
    command.inheritsStandardInput = inherits
    command.socket = self.socket
    command.takesTerminal = self.isInteractive
    command.firstPathAtStart = firstOfList
    return command
  }

  private static var standardInputIsNull: Bool {
    guard let input = try? FileStatus(of: "/dev/stdin", followsLinks: true),
      let null = try? FileStatus(of: "/dev/null")
    else { return false }
    return (input.device, input.inode) == (null.device, null.inode)
  }

  fileprivate var maker: CommandMaker {
    let port = self.socket.map {
      Command.EnvironmentVariable(Project.Task.portVariable, "\($0.port)")
    }
    let shell = if case .always(let named) = self.shell { named } else { userShell.name }
    return CommandMaker(
      own: own, settings: self,
      variables: self.fileVariables + [port].compactMap(\.self) + self.environment, shell: shell,
      delivery: changeDelivery)
  }
}
