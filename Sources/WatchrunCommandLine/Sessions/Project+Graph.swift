import ActionRunning
import FileObservation
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts a project to a plan.

extension SessionPlan {
  /// - Parameter settings: The command line with the defaults of the project.
  init(
    _ project: Project, _ settings: Settings, in directory: Path, files: [Path], servesPages: Bool
  ) throws(TaskGraphError) {
    origin = .project
    graph = try project.graph(settings, in: directory)
    readsOutput = settings.readsOutputOfTask || project.tasks.contains { $0.holdsOutput(settings) }
    let isAlone = project.tasks.count == 1
    tasks = project.tasks.map { task in
      // Among several tasks, the name says what it is.
      let command = ProjectText.shown(task.run)
      let text = isAlone ? command : ProjectText.abridged(command)
      return TaskText(
        name: task.name, group: task.group, holdsOutput: task.holdsOutput(settings),
        usesPseudoTerminal: task.usesPseudoTerminal ?? settings.givesPseudoTerminals,
        words: [Array(text.utf8)],
        command: command, shownCommand: [text.word].shownCommand,
        isChecked: task.readiness != nil || task.onBusy == .overlap)
    }
    pages =
      servesPages
      ? project.servedPages(in: directory, reportsConsoles: Console.showsPageConsoles) : []
    observation = Observation(
      paths: project.watched(in: directory), ignores: project.ignores,
      kinds: project.kinds.union([.created, .modified, .removed, .renamed]))
    sources = files
    observation.observe(files)
    for task in project.tasks {
      guard let log = task.log ?? settings.log else { continue }
      observation.logs[task.name] = log.log(of: task.name).absolute(from: directory)
      readsOutput = true
    }
  }
}

// Converts a project to the graph that is run and the paths that are observed.

extension Project {
  /// - Parameter settings: The command line with the defaults of the project.
  func graph(_ settings: Settings, in directory: Path) throws(TaskGraphError) -> TaskGraph {
    var observing = settings
    // These decide about changes, not about observed paths.
    (observing.filters, observing.extensions) = ([], [])
    let filter = observing.makeFilter(in: directory)
    let files = allEnvironmentFiles + settings.environmentFiles
    let roots = watched(in: directory).map(\.path) + files.map { $0.absolute(from: directory) }
    let definitions = tasks.map { task in
      var task = task
      let own = task.watched.map { $0.absolute(from: directory) }
      // One observer serves all tasks. A path that is ignored below this task's paths may be observed
      // because another task or a page names it.
      let foreign = filter.patterns(ignoring: roots, whereNotIn: own, in: directory)
      // A change of its variables makes another task of it.
      let used = (environmentFiles + task.environmentFiles + settings.environmentFiles).compactMap {
        $0.absolute(from: directory).relative(to: directory).flatMap { GlobPattern(only: $0) }
      }
      task.ignores = foreign + task.ignores + used
      var definition = task.definition(settings, in: directory)
      definition.sharedVariables = task.portVariables
      definition.isManual = task.isManual && !isNeeded(task.name)
      definition.isFreshAllowed = task.isFreshAllowed
      return definition
    }
    return try TaskGraph(definitions, jobs: jobs ?? processorCount())
  }

  /// Whether a task or a page depends on it, directly or not, that is not manual itself.
  private func isNeeded(_ name: String) -> Bool {
    let dependents = tasks.filter { $0.after.contains(name) }
    return dependents.contains { !$0.isManual || isNeeded($0.name) }
      || pages.contains { $0.after.contains(name) }
  }

  /// The paths that are watched for all tasks and pages. They need not exist yet.
  func watched(in directory: Path) -> [WatchedPath] {
    var known: Set<Path> = []
    return (tasks.flatMap(\.watched) + pages.flatMap(\.observed) + memberRoots)
      .map { $0.absolute(from: directory) }
      .filter { known.insert($0).inserted }
      .map { WatchedPath($0, mayBeMissing: true) }
  }

  /// The kinds of change that any task counts.
  var kinds: Set<ChangeBatch.Kind> {
    tasks.reduce(into: []) { $0.formUnion($1.effectiveKinds) }
  }
}

extension Project.Task {
  /// How often in a row a service is restarted that does not succeed: a file has to be mended then, and
  /// more attempts bury the error. The pauses add up to 7.5 s, in which a database may have started.
  private static let usualRestartLimit = 4

  fileprivate var effectiveKinds: Set<ChangeBatch.Kind> { self.kinds ?? ChangeBatch.Kind.usual }

  fileprivate func definition(_ settings: Settings, in directory: Path) -> TaskDefinition {
    let filter = filter(in: directory)
    let watched = watched.map { WatchedPath($0.absolute(from: directory), mayBeMissing: true) }
    return TaskDefinition(
      name, command(settings),
      triggers: TaskTriggers(
        watched: watched, filter: filter, kinds: effectiveKinds,
        writes: declaredWrites(in: directory)),
      dependencies: after, isService: isService, readiness: readiness(settings),
      policy: policy(settings),
      isPostponed: self.isPostponed || settings.isPostponed)
  }

  /// What it writes: one of several directories, in its own.
  func declaredWrites(in directory: Path) -> DeclaredWrites {
    let own = group == nil ? nil : self.directory?.absolute(from: directory)
    return DeclaredWrites(self.writes, base: own ?? directory, isConfined: own != nil)
  }

  /// The filter of its own patterns. The observer applies ignore files.
  func filter(in directory: Path) -> PathFilter {
    PathFilter(
      base: directory, ignore: self.ignores, filter: self.filters,
      extensionBytes: self.extensions, sources: [])
  }

  private func readiness(_ settings: Settings) -> TaskDefinition.Readiness? {
    var readiness = readiness
    if case .command(let command)? = readiness?.condition {
      readiness?.condition = .command(makeCommand(command, settings))
    }
    return readiness
  }

  private func policy(_ settings: Settings) -> RunPolicy {
    func hook(_ line: [UInt8]?) -> Command? {
      line.map { makeCommand([$0], shellForm(settings), settings) }
    }
    var policy = RunPolicy(
      busyPolicy: self.onBusy?.policy(self.stopPlan.signal), stopPlan: self.stopPlan,
      timeout: self.timeout)
    policy.restartLimit =
      isService && !isKeptAlive ? self.restartLimit ?? Self.usualRestartLimit : nil
    if let backOff { policy.backOff = backOff }
    policy.stopCommand = stop.map { makeCommand($0.command, settings) }
    policy.onSuccess = hook(self.onSuccess)
    policy.onFailure = hook(self.onFailure)
    return policy
  }

  private func command(_ settings: Settings) -> Command {
    var command = makeCommand(run.command, settings)
    command.socket = socket
    // Several tasks and several lives of a service cannot share standard input, and a background process group must
    // not read from a terminal.
    let hasTerminal = Terminal.isTerminal(STDIN_FILENO)
    command.inheritsStandardInput = hasTerminal && isInteractive
    command.inheritsStandardInputAlone = !hasTerminal && !isService
    command.takesTerminal = hasTerminal && isInteractive
    command.testMap = testMap
    return command
  }

  /// Several people share the lines of a project file, a Procfile or a makefile, so that the shell is not that
  /// of the user.
  private func shellForm(_ settings: Settings) -> Command.Form {
    for case .always(let shell) in [self.shell, settings.shell] { return .shell(shell) }
    return .shell("sh".word)
  }

  private func makeCommand(_ command: Command, _ settings: Settings) -> Command {
    makeCommand(
      command.words, command.form == .direct ? .direct : shellForm(settings), settings)
  }

  private func makeCommand(
    _ words: [[UInt8]], _ form: Command.Form, _ settings: Settings
  ) -> Command {
    // The ports are those of this session.
    let given = (self.fileVariables + settings.fileVariables + settings.environment).filter {
      variable in !portVariables.contains { $0.name == variable.name }
    }
    var command = Command(
      words: words, form: form,
      environment: Command.Environment(given + self.environment),
      directory: directory, inheritsStandardInput: false
    ).describingChanges()
    // The output of a single task goes to the terminal itself, unless it is read. That is decided at each start,
    // so that the task is the same when others are added.
    command.readOutputEnvironment = Command.Environment(
      Console.outputVariables(
        settings.colorMode, isTerminal: self.usesPseudoTerminal ?? settings.givesPseudoTerminals))
    return command
  }

  /// Whether its output is printed only when a run fails.
  func holdsOutput(_ settings: Settings) -> Bool {
    (self.outputMode ?? settings.outputMode) == .failed
  }
}
