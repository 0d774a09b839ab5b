import ActionRunning
import FileObservation
import LiveReload
import SystemCalls
import WatchrunSettings

// Converts a project to a plan.

extension SessionPlan {
  /// - Parameters:
  ///   - settings: The command line with the defaults of the project.
  ///   - files: The files of which the project is made.
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
