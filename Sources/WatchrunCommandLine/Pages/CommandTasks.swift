import ActionRunning
import FileObservation
import LiveReload

/// The tasks of a command line: its command, and the build that precedes it.
struct CommandTasks: Hashable {
  static let build = "build"

  /// The name of the command: the last path component of its program.
  let name: String
  /// The command as a user writes it.
  let command: String
  /// The shell line of the build.
  let buildLine: String?
  /// Whether the command is regarded as a server, which has succeeded as soon as it was started.
  let isService: Bool

  init(_ settings: Settings) {
    command = ShownCommand.text(settings.command)
    buildLine = settings.build.map { Path(bytes: $0).description }
    let isLive = settings.busyMode == .restart || settings.busyMode == .signal
    isService = isLive || settings.keepsAlive
    let program = Self.program(of: settings.command)
    let isTaken = program == Self.build && settings.build != nil
    name = isTaken || program.isEmpty ? "command" : program
  }

  /// The program of a command, or of a shell line, whose variables precede it.
  private static func program(of words: [[UInt8]]) -> String {
    let first = words.first ?? []
    let parts = words.count == 1 ? first.split(separator: UInt8(ascii: " ")) : [first[...]]
    let program = parts.first { !$0.contains(UInt8(ascii: "=")) } ?? parts.first ?? []
    return Path(bytes: Path(bytes: program).lastComponent).description
  }

  /// The names of all.
  var names: Set<String> { buildLine == nil ? [name] : [Self.build, name] }

  /// The description of the tasks for pages.
  var activity: Activity {
    var tasks: [Activity.TaskDescription] = []
    if let buildLine {
      tasks.append(
        .init(name: Self.build, command: buildLine, dependencies: [], isService: false))
    }
    let dependencies = buildLine == nil ? [] : [Self.build]
    tasks.append(
      .init(name: name, command: command, dependencies: dependencies, isService: isService))
    return .tasks(tasks)
  }

  /// The name of the task that a job belongs to; `nil` for hooks, which pages do not show.
  func name(of job: ActionQueue.Job) -> String? {
    switch job {
    case .build: Self.build
    case .command: name
    case .hook: nil
    }
  }
}
