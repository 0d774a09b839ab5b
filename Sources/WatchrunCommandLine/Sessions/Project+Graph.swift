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
    let isAlone = project.tasks.count == 1
    tasks = project.tasks.map { task in
      // Among several tasks, the name says what it is.
      let command = ProjectText.shown(task.run)
      let word = (isAlone ? command : ProjectText.abridged(command)).word
      var text = task.maker(settings).text(task.name, command, shown: [word].shownCommand)
      (text.group, text.words) = (task.group, [word])
      return text
    }
    readsOutput =
      settings.readsOutput || StatusLine.isPossible(settings.effectiveStatusLine)
      || tasks.contains(where: \.holdsOutput)
    pages =
      servesPages
      ? project.servedPages(in: directory, reportsConsoles: Console.showsPageConsoles) : []
    observation = Observation(
      paths: project.watched(in: directory), ignores: project.ignores,
      kinds: project.kinds.union([.created, .modified, .removed, .renamed]))
    sources = files
    observation.observe(files)
    keepLogs(in: directory)
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
    // A task or a page depends on them, directly or not, that is not manual itself.
    let needed = try TaskGraph.names(
      neededBy: tasks.filter { !$0.isManual }.map(\.name) + pages.map(\.name), in: nodes)
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
      definition.isManual = task.isManual && !needed.contains(task.name)
      definition.isFreshAllowed = task.isFreshAllowed
      return definition
    }
    return try TaskGraph(definitions, jobs: jobs ?? processorCount())
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

  fileprivate var effectiveKinds: Set<ChangeBatch.Kind> { kinds ?? ChangeBatch.Kind.usual }

  fileprivate func definition(_ settings: Settings, in directory: Path) -> TaskDefinition {
    let maker = maker(settings)
    let watched = watched.map { WatchedPath($0.absolute(from: directory), mayBeMissing: true) }
    var readiness = readiness
    if case .command(let command)? = readiness?.condition {
      readiness?.condition = .command(maker.command(command))
    }
    return TaskDefinition(
      name, command(maker),
      triggers: TaskTriggers(
        watched: watched, filter: filter(in: directory), kinds: effectiveKinds,
        writes: declaredWrites(in: directory)),
      dependencies: after, isService: isService, readiness: readiness, policy: policy(maker),
      isPostponed: isPostponed || settings.isPostponed)
  }

  /// What it writes: one of several directories, in its own.
  func declaredWrites(in directory: Path) -> DeclaredWrites {
    let own = group == nil ? nil : self.directory?.absolute(from: directory)
    return DeclaredWrites(writes, base: own ?? directory, isConfined: own != nil)
  }

  private func policy(_ maker: CommandMaker) -> RunPolicy {
    var policy = maker.policy(onBusy?.policy(stopPlan.signal))
    policy.restartLimit =
      isService && !isKeptAlive ? restartLimit ?? Self.usualRestartLimit : nil
    if let backOff { policy.backOff = backOff }
    policy.stopCommand = stop.map { maker.command($0.command) }
    return policy
  }

  private func command(_ maker: CommandMaker) -> Command {
    var command = maker.command(run.command)
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

  fileprivate func maker(_ settings: Settings) -> CommandMaker {
    // The ports are those of this session.
    let ports =
      portVariables.map(\.name) + (port == nil ? [] : [Project.Task.portVariable.word])
    let files = (fileVariables + settings.fileVariables).filter { !ports.contains($0.name) }
    // What is given is stronger than the file.
    let given = settings.environment.filter { !ports.contains($0.name) }
    // Several people share the lines of a project file, a Procfile or a makefile, so that the shell is not that of
    // the user.
    var shell = "sh".word
    for case .always(let named) in [settings.shell, self.shell] { shell = named }
    return CommandMaker(
      own: self, settings: settings, variables: files + environment + given, shell: shell,
      directory: directory)
  }
}

extension Project.Task {
  /// The filter of its own patterns, and of others that come first. The observer applies ignore files.
  func filter(in directory: Path, ignoring others: [GlobPattern] = []) -> PathFilter {
    PathFilter(
      base: directory, ignore: others + ignores, filter: filters, extensionBytes: extensions,
      sources: [])
  }
}
