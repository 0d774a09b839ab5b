import ActionRunning

extension Setting {
  /// The keys of the project file that begin a task or the file. The reader makes `tasks`, `after` and
  /// `ready` of their values.
  static let projectFile: [Setting] = [
    Setting(
      key: .key("$schema", "address of the schema, for editors", in: .project), .string,
      project: { _, _ in }),
    Setting(
      "-j --jobs", .project, "Run at most N tasks at once", default: "number of cores",
      scope: .project, key: .key("jobs", "maximum number of tasks that run at once", in: .project),
      .count(1...10_000),
      option: { $0.jobs = $1 }, project: { $0.jobs = $1 }),
    special(.key("tasks", "tasks and pages, by name", in: .project), .tasks),
    Setting(
      key: .key(
        "run", "shell line, or array of a program and its arguments", in: .task,
        others: ["cmd", "command", "exec", "script"]),
      .command, task: { $0.run = $1 }),
    Setting(
      key: .key(
        "directory", "working directory", in: .task, default: "that of watchrun",
        others: ["cwd", "dir", "workdir", "workingdirectory"]),
      .directory, task: { $0.directory = $1 }),
    Setting(
      key: .key(
        "map", "tests of changed files, which replace {tests} in run: paths by regular expressions",
        in: .task, others: ["tests", "testmap", "related"]),
      .testMap, task: { $0.testMap = $1 }),
  ]

  /// The keys that say what a task depends on, and when it is ready for others.
  static let dependencies: [Setting] = [
    Setting(
      key: .key(
        "each", "run in each directory with such a file when it changes (gitignore syntax)",
        in: .task, others: ["foreach", "members", "packages", "workspaces"]),
      .manifests, task: { $0.each = $1 }),
    special(
      .key(
        "after", "tasks that must succeed before this one", in: .task, .page,
        others: ["depends", "dependson", "deps", "needs", "dependencies", "requires"]),
      .taskNames),
    Setting(
      key: .key(
        "service",
        "the command keeps running, as a server does, and is restarted a few times if it exits",
        in: .task),
      .boolean, task: { $0.isService = $0.isService || $1 }),
    special(.key("ready", "readiness check of a service", in: .task), .readiness),
    Setting(
      key: .key(
        "port",
        "port of a service, which is in its variable PORT, or auto for a free one; it is ready "
          + "when the port accepts connections, unless ready says otherwise", in: .task),
      .portOrAuto, task: { $0.port = $1 }),
    Setting(
      key: .key(
        "manual",
        "only a request for this task or a dependent starts it: a key, --send, or its name",
        in: .task, others: ["onrequest", "disabled"]),
      .boolean, task: { $0.isManual = $1 }),
    Setting(
      key: .key(
        "stop", "command that stops a service, before stopSignal", in: .task,
        others: ["shutdown", "down", "stopcommand"]),
      .command, task: { $0.stop = $1 }),
  ]

  /// The keys of the object `ready`. They come last: other objects have keys of the same names.
  static let readiness: [Setting] = [
    Setting(key: .key("port", "ready when this port accepts connections", in: .readiness), .port),
    Setting(
      key: .key(
        "url", "ready when this URL is answered with a status below 500, or one of status",
        in: .readiness),
      .url),
    Setting(
      key: .key("line", "ready when a line of output contains this text", in: .readiness),
      .string),
    Setting(
      key: .key(
        "run", "ready when this command succeeds: a shell line, or an array of words",
        in: .readiness, others: ["command", "cmd", "exec", "test"]),
      .command),
    Setting(
      key: .key(
        "status", "statuses of url that mean it is ready", in: .readiness,
        others: ["statuses", "statuscode"]),
      .statuses),
    Setting(
      key: .key(
        "interval", "time between two checks", in: .readiness,
        default: "short at first, then longer", others: ["period", "periodseconds"]),
      .positiveDuration),
    Setting(
      key: .key(
        "timeout", "the service counts as failed if it is not ready by then", in: .readiness,
        default: "30s"),
      .positiveDuration),
    Setting(
      key: .key("existing", "start it though another process answers already", in: .readiness),
      .boolean),
  ]

  /// A key for whose value the project reader has a function of its own.
  private static func special(_ key: ProjectKey, _ kind: ValueKind) -> Setting {
    Setting(key: key, ValueType<Bool>(kind) { _ in nil })
  }

  static let project: [Setting] = [
    Setting(
      "-t --task", .project, "Run only this task and the tasks it depends on", isRepeatable: true,
      scope: .project,
      .taskName, option: { $0.taskNames.append($1.decoded) }),
    Setting(
      "--config", .project, "Read the project from FILE", default: "watchrun.json", scope: .project,
      .file, option: { $0.projectFile = $1 }),
    answer("--list-tasks", .project, "List the tasks and exit", .listTasks),
    answer("--init", .project, "Write a project file for this directory and exit", .initialize),
    answer("--check", .project, "Check the project file for errors and exit", .check),
    answer("--schema", .project, "Print the JSON schema of project files and exit", .schema),
  ]
}
