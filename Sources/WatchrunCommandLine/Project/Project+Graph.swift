import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// From a project to what the stages are made with.

extension Project {
  /// The graph of its tasks, as they are run in this folder with these options.
  func graph(
    _ settings: Settings, in directory: Path, ignoring ignored: Set<Signal>
  ) throws(TaskGraphError) -> TaskGraph {
    let isAlone = tasks.count == 1
    let observed = settings.makeFilter(in: directory)
    let roots = watched(in: directory).map(\.path)
    let definitions = tasks.map { task in
      var task = task
      let own = task.watched.map { $0.absolute(from: directory) }
      // Watched for another task or a page only, though it is ignored where this one looks.
      let foreign = observed.patterns(ignoring: roots, whereNotIn: own, in: directory)
      task.ignores = foreign + task.ignores
      return task.definition(settings, in: directory, ignoring: ignored, isAlone: isAlone)
    }
    return try TaskGraph(definitions, jobs: jobs ?? processorCount())
  }

  /// What is watched for all of them, and for the pages. What is not there is waited for.
  func watched(in directory: Path) -> [WatchedPath] {
    var known: Set<Path> = []
    return (tasks.flatMap(\.watched) + pages.flatMap(\.observed))
      .map { $0.absolute(from: directory) }
      .filter { known.insert($0).inserted }
      .map { WatchedPath($0, mayBeMissing: true) }
  }

  /// The kinds of change that count for any of them.
  var kinds: Set<ChangeBatch.Kind> {
    tasks.reduce(into: []) { $0.formUnion($1.effectiveKinds) }
  }
}

extension Project.Task {
  private static let usualKinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])

  fileprivate var effectiveKinds: Set<ChangeBatch.Kind> { kinds ?? Self.usualKinds }

  fileprivate func definition(
    _ settings: Settings, in directory: Path, ignoring ignored: Set<Signal>, isAlone: Bool
  ) -> TaskDefinition {
    // What git and others ignore is the observer's affair.
    let filter = PathFilter(
      base: directory, ignore: ignores, filter: filters, extensionBytes: extensions, sources: [])
    let watched = watched.map {
      WatchedPath($0.absolute(from: directory), mayBeMissing: true)
    }
    return TaskDefinition(
      name, command(settings, isAlone: isAlone),
      triggers: TaskTriggers(watched: watched, filter: filter, kinds: effectiveKinds),
      dependencies: after, isService: isService, readiness: readiness,
      options: options(settings, ignoring: ignored),
      isPostponed: isPostponed || settings.isPostponed)
  }

  private func command(_ settings: Settings, isAlone: Bool) -> Command {
    switch run {
    case .line(let line):
      return makeCommand(
        [Array(line.utf8)], .shell(settings.usualShell), settings, isAlone: isAlone)
    case .words(let words):
      return makeCommand(words.map { Array($0.utf8) }, .direct, settings, isAlone: isAlone)
    }
  }

  private func makeCommand(
    _ words: [[UInt8]], _ form: Command.Form, _ settings: Settings, isAlone: Bool = false
  ) -> Command {
    // Several cannot share it, and a terminal is not for a command in a background group.
    let inherits = isAlone && !Terminal.isTerminal(STDIN_FILENO)
    return Command(
      words: words, form: form, environment: settings.environment + environment,
      directory: directory, inheritsStandardInput: inherits)
  }

  private func options(
    _ settings: Settings, ignoring ignored: Set<Signal>
  ) -> ActionQueue.Options {
    var options = ActionQueue.Options(
      busyPolicy: busyPolicy, stopPlan: stopPlan, ignoredSignals: ignored)
    options.timeout = timeout
    let lines = [onSuccess, onFailure].map { line in
      line.map { makeCommand([$0], .shell(settings.usualShell), settings) }
    }
    options.onSuccess = lines[0]
    options.onFailure = lines[1]
    return options
  }

  private var busyPolicy: BusyPolicy {
    switch busyMode {
    case .queue: .queue
    case .ignore: .ignore
    case .restart: .restart
    case .signal: .signal(stopPlan.signal)
    case nil: isService ? .restart : .queue
    }
  }
}
