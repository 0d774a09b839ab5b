import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// Converts a project to the graph that is run and the paths that are observed.

extension Project {
  /// The graph of its tasks.
  func graph(_ context: ProjectContext) throws(TaskGraphError) -> TaskGraph {
    let directory = context.directory
    let isAlone = tasks.count == 1
    let roots = watched(in: directory).map(\.path)
    let definitions = tasks.map { task in
      var task = task
      let own = task.watched.map { $0.absolute(from: directory) }
      // One observer serves all tasks. A path that is ignored below this task's paths may be observed
      // because another task or a page names it.
      let foreign = context.filter.patterns(ignoring: roots, whereNotIn: own, in: directory)
      task.ignores = foreign + task.ignores
      return task.definition(context, isAlone: isAlone)
    }
    return try TaskGraph(definitions, jobs: jobs ?? processorCount())
  }

  /// The paths that are watched for all tasks and pages. They need not exist yet.
  func watched(in directory: Path) -> [WatchedPath] {
    var known: Set<Path> = []
    return (tasks.flatMap(\.watched) + pages.flatMap(\.observed))
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
  private static let restartLimit = 4

  private static let defaultKinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])

  fileprivate var effectiveKinds: Set<ChangeBatch.Kind> { self.kinds ?? Self.defaultKinds }

  fileprivate func definition(_ context: ProjectContext, isAlone: Bool) -> TaskDefinition {
    // Ignore files are applied by the observer.
    let filter = PathFilter(
      base: context.directory, ignore: self.ignores, filter: self.filters,
      extensionBytes: self.extensions,
      sources: [])
    let watched = watched.map {
      WatchedPath($0.absolute(from: context.directory), mayBeMissing: true)
    }
    return TaskDefinition(
      name, command(context, isAlone: isAlone),
      triggers: TaskTriggers(watched: watched, filter: filter, kinds: effectiveKinds),
      dependencies: after, isService: isService, readiness: readiness, policy: policy(context),
      isPostponed: self.isPostponed || context.isPostponed)
  }

  private func policy(_ context: ProjectContext) -> RunPolicy {
    func hook(_ line: [UInt8]?) -> Command? {
      line.map { makeCommand([$0], shellForm(context), context) }
    }
    var policy = RunPolicy(busyPolicy: busyPolicy, stopPlan: self.stopPlan, timeout: self.timeout)
    policy.restartLimit = isService && !isKeptAlive ? Self.restartLimit : nil
    policy.onSuccess = hook(self.onSuccess)
    policy.onFailure = hook(self.onFailure)
    return policy
  }

  private func command(_ context: ProjectContext, isAlone: Bool) -> Command {
    var command =
      switch run {
      case .line(let line):
        makeCommand([Array(line.utf8)], shellForm(context), context, isAlone: isAlone)
      case .words(let words):
        makeCommand(words.map { Array($0.utf8) }, .direct, context, isAlone: isAlone)
      }
    // Several tasks cannot share standard input, and a background process group must not read from a
    // terminal.
    let hasTerminal = Terminal.isTerminal(STDIN_FILENO)
    command.inheritsStandardInput = hasTerminal ? isInteractive : isAlone
    command.takesTerminal = hasTerminal && isInteractive
    return command
  }

  private func shellForm(_ context: ProjectContext) -> Command.Form {
    if case .always(let shell) = self.shell { .shell(shell) } else { .shell(context.shell) }
  }

  private func makeCommand(
    _ words: [[UInt8]], _ form: Command.Form, _ context: ProjectContext, isAlone: Bool = false
  ) -> Command {
    // The output of a single task goes to the terminal itself, unless it is read.
    let isRead = !isAlone || context.readsOutput || holdsOutput(context)
    let output =
      isRead
      ? Console.outputVariables(
        context.colorMode, isTerminal: self.usesPseudoTerminal ?? context.usesPseudoTerminals) : []
    return Command(
      words: words, form: form,
      environment: Command.Environment(output + context.environment + self.environment),
      directory: directory, inheritsStandardInput: false
    ).describingChanges()
  }

  /// Whether its output is printed only when a run fails.
  func holdsOutput(_ context: ProjectContext) -> Bool {
    (self.outputMode ?? context.outputMode) == .failed
  }

  private var busyPolicy: BusyPolicy? {
    switch self.onBusy {
    case .queue: .queue
    case .ignore: .ignore
    case .restart: .restart
    case .signal: .signal(self.stopPlan.signal)
    case nil: nil
    }
  }
}
