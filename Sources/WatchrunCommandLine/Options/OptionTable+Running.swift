import ActionRunning

extension OptionTable {
  static let running: [Option] = [
    Option(
      "o", "on-busy", .init("MODE", .choice(BusyMode.names)), .running,
      "On a change during a run: queue, ignore, restart or signal", default: "queue"
    ) { (settings, value) throws(UsageError) in
      settings.onBusy = try choice(value)
    },
    Option("r", "restart", nil, .running, "Restart a running command (--on-busy restart)") {
      settings, _ in settings.restarts = true
    },
    Option(
      "s", "signal", .init("SIGNAL", .signal), .running, "Send SIGNAL to a running command instead"
    ) { (settings, value) throws(UsageError) in
      settings.signal = try signal(value)
    },
    Option(
      nil, "stop-signal", .init("SIGNAL", .signal), .running, "Stop the command with SIGNAL",
      default: "TERM"
    ) { (settings, value) throws(UsageError) in
      settings.stopPlan.signal = try signal(value)
    },
    Option(
      nil, "stop-timeout", .init("TIME", .duration), .running, "Kill it TIME after the stop signal",
      default: "10s"
    ) { (settings, value) throws(UsageError) in
      settings.stopPlan.timeout = try duration(value)
    },
    Option(
      nil, "timeout", .init("TIME", .duration), .running,
      "Stop runs after TIME, and count them as failed"
    ) { (settings, value) throws(UsageError) in
      let time = try duration(value)
      if time == .zero {
        throw UsageError("0 would stop each run at once; write a longer time, such as 30s")
      }
      settings.timeout = time
    },
    Option(nil, "keep-alive", nil, .running, "Start the command again whenever it exits") {
      settings, _ in settings.keepsAlive = true
    },
    Option(
      nil, "build", .init("COMMAND", .shellLine), .running,
      "Run COMMAND first, and go on only if it succeeds"
    ) { (settings, value) throws(UsageError) in
      settings.build = try line(value)
    },
    Option(
      nil, "on-success", .init("COMMAND", .shellLine), .running,
      "Run COMMAND after each run that succeeds"
    ) { (settings, value) throws(UsageError) in
      settings.onSuccess = try line(value)
    },
    Option(
      nil, "on-failure", .init("COMMAND", .shellLine), .running,
      "Run COMMAND after each run that fails"
    ) { (settings, value) throws(UsageError) in
      settings.onFailure = try line(value)
    },
    Option(
      nil, "shell", .init("SHELL", .shell), .running,
      "Run the command in SHELL; none: never in a shell",
      default: "$SHELL, for a single argument that needs one"
    ) { (settings, value) throws(UsageError) in
      let shell = try path(value).bytes
      settings.shell = shell.elementsEqual("none".utf8) ? .never : .always(shell)
    },
    Option(
      nil, "emit", .init("MODE", .choice(Settings.EmitMode.names)), .running,
      "Pass changed paths in variables (env), on standard input (lines, json), or not (none)",
      default: "env"
    ) { (settings, value) throws(UsageError) in
      settings.emitMode = try choice(value)
    },
    Option(
      "E", "env", .init("NAME=VALUE", .variable), .running,
      "Set an environment variable for the command", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.environment.append(try variable(value))
    },
    Option("I", "interactive", nil, .running, "Give the terminal to the command while it runs") {
      settings, _ in settings.isInteractive = true
    },
  ]

  static let project: [Option] = [
    Option(
      "t", "task", .init("NAME", .task), .project,
      "Run only this task and the tasks it depends on", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      if value.isEmpty { throw UsageError("the name of the task is empty") }
      settings.taskNames.append(text(value))
    },
    Option(
      nil, "config", .init("FILE", .file), .project, "Read the project from FILE",
      default: "watchrun.json"
    ) { (settings, value) throws(UsageError) in
      settings.projectFile = try path(value)
    },
    Option(nil, "list-tasks", nil, .project, "List the tasks and exit") {
      settings, _ in settings.task = .listTasks
    },
    Option(nil, "init", nil, .project, "Write a project file for this directory and exit") {
      settings, _ in settings.task = .initialize
    },
    Option(nil, "check", nil, .project, "Check the project file for errors and exit") {
      settings, _ in settings.task = .check
    },
    Option(nil, "schema", nil, .project, "Print the JSON schema of project files and exit") {
      settings, _ in settings.task = .schema
    },
  ]

  static let output: [Option] = [
    Option(
      nil, "print", .init("MODE", .choice(Settings.PrintMode.names)), .output,
      "Print changes as json or lines, and run nothing"
    ) { (settings, value) throws(UsageError) in
      settings.printMode = try choice(value)
    },
    Option(
      "0", "null", nil, .output,
      "Separate paths by NUL in --files-from, --print, --explain and --emit lines"
    ) { settings, _ in settings.separatesByNUL = true },
    Option(
      nil, "json", nil, .output,
      "Print the answer of --list-tasks, --doctor, --wait or --status as JSON"
    ) {
      settings, _ in settings.answersInJSON = true
    },
    Option(
      nil, "output", .init("MODE", .choice(OutputMode.names)), .output,
      "Print the output of all runs, or only of failed ones", default: "all"
    ) { (settings, value) throws(UsageError) in
      settings.outputMode = try choice(value)
    },
    Option(
      nil, "status-line", .init("WHEN", .choice(StatusLineMode.names), isOptional: true), .output,
      "Show the state of the tasks in the last row: auto, always or never", default: "auto"
    ) { (settings, value) throws(UsageError) in
      settings.statusLine = value.isEmpty ? .always : try choice(value)
    },
    Option(
      nil, "pty", nil, .output, "Give commands a pseudo-terminal, even if the output goes to a pipe"
    ) { settings, _ in settings.usesPseudoTerminals = true },
    Option(
      nil, "diagnostics", .init("FILE", .file), .output,
      "Keep errors and warnings in FILE, for editors"
    ) { (settings, value) throws(UsageError) in
      settings.diagnosticsFile = try path(value)
    },
    Option("c", "clear", nil, .output, "Clear the screen before each run") {
      settings, _ in settings.clearsScreen = true
    },
    Option("q", "quiet", nil, .output, "Print only warnings and errors of watchrun") {
      settings, _ in
      settings.isQuiet = true
      settings.isVerbose = false
    },
    Option("v", "verbose", nil, .output, "Print every change and every decision") {
      settings, _ in
      settings.isVerbose = true
      settings.isQuiet = false
    },
    Option(
      "N", "notify", .init("WHEN", .choice(NotifyMode.names), isOptional: true), .output,
      "Notify the desktop: failure (default), change, always, never"
    ) { (settings, value) throws(UsageError) in
      settings.notifyMode = value.isEmpty ? .failure : try choice(value)
    },
    Option(nil, "bell", nil, .output, "Ring the bell when a run fails, or as --notify says") {
      settings, _ in settings.ringsBell = true
    },
    Option(nil, "no-keys", nil, .output, "Do not read keys from the terminal") {
      settings, _ in settings.readsKeys = false
    },
    Option(
      nil, "color", .init("WHEN", .choice(ColorMode.names)), .output,
      "Use color: auto, always or never", default: "auto"
    ) { (settings, value) throws(UsageError) in
      settings.colorMode = try choice(value)
    },
    Option("h", "help", nil, .output, "Show this help and exit") {
      settings, _ in settings.task = .help
    },
    Option("V", "version", nil, .output, "Show the version and exit") {
      settings, _ in settings.task = .version
    },
  ]
}
