extension Setting {
  static let output: [Setting] = [
    Setting(
      "--print", .output, "Print changes as json or lines, and run nothing",
      ValueType<Settings.PrintMode>.choice,
      others: ["--only-emit-events --print-events --show-events": "use --print json or lines"],
      option: { $0.printMode = $1 }),
    Setting(
      "-0 --null", .output,
      "Separate paths by NUL in --files-from, --print, --explain and --emit lines", scope: .command,
      .boolean, option: { $0.separatesByNUL = $1 }),
    Setting(
      "--json", .output, "Print the answer of --list-tasks, --doctor, --wait or --status as JSON",
      scope: .session,
      .boolean, option: { $0.answersInJSON = $1 }),
    Setting(
      "--output", .output, "Print the output of all runs, or only of failed ones", default: "all",
      scope: [.run, .results], key: .key("output", in: .project, .task),
      ValueType<OutputMode>.choice, replacesKeys: true, task: { $0.outputMode = $1 }),
    Setting(
      "--status-line", .output,
      "Show the state of the tasks in the last row: auto, always or never",
      value: "WHEN", default: "auto", scope: [.run, .results],
      key: .key("statusLine", "when to show the state of the tasks in the last row", in: .project),
      ValueType<StatusLineMode>.choice, omitted: .always, option: { $0.statusLine = $1 }),
    Setting(
      "--timestamps", .output, "Print the time before each line of output",
      scope: [.run, .results], key: .key("timestamps", in: .project),
      .boolean, others: ["--time --timestamp --prefix-time": "use --timestamps"],
      option: { $0.showsTimes = $1 }),
    Setting(
      "--log", .output, "Append the output to FILE, such as out/{task}.log",
      scope: [.run, .results],
      key: .key(
        "log", "file to which output is appended, such as out/{task}.log", in: .project, .task,
        others: ["logfile", "loglocation"]),
      .file, replacesKeys: true, others: ["--log-file --logfile --log_file": "use --log FILE"],
      task: { $0.log = $1 }),
    Setting(
      "--pty", .output, "Give commands a pseudo-terminal, even if the output goes to a pipe",
      scope: [.run, .results],
      key: .key(
        "pty", "give the command a pseudo-terminal", in: .task,
        default: "if the output is shown in a terminal"),
      .boolean, task: { $0.usesPseudoTerminal = $1 }),
    Setting(
      "--diagnostics", .output, "Keep errors and warnings in FILE, for editors",
      scope: [.run, .results],
      key: .key(
        "diagnostics", "file in which errors and warnings are kept, for editors", in: .project),
      .file, option: { $0.diagnosticsFile = $1 }),
    Setting(
      "-c --clear", .output, "Clear the screen before each run",
      key: .key("clear", "clear the screen before each round", in: .project), .boolean,
      option: { $0.clearsScreen = $1 }),
    Setting(
      "-q --quiet", .output, "Print only warnings and errors of watchrun", .boolean,
      others: ["--silent --no-log -Q": "use -q"],
      option: { ($0.isQuiet, $0.isVerbose) = ($1, !$1) }),
    Setting(
      "-v --verbose", .output, "Print every change and every decision", .boolean,
      others: [
        "--why": "use -v, which names what changed", "--debug --trace --dump": "use -v",
      ],
      option: { ($0.isQuiet, $0.isVerbose) = (!$1, $1) }),
    Setting(
      "-N --notify", .output, "Notify the desktop: failure (default), change, always, never",
      value: "WHEN", scope: [.run, .results],
      key: .key(
        "notify", "rounds after which the desktop is notified", in: .project, default: "never"),
      ValueType<NotifyMode>.choice, omitted: .failure,
      others: ["--notification --notifications --desktop-notify": "use --notify"],
      option: { $0.notifyMode = $1 }),
    Setting(
      "--bell", .output, "Ring the bell when a run fails, or as --notify says",
      scope: [.run, .results],
      .boolean, option: { $0.ringsBell = $1 }),
    Setting(
      "--no-keys", .output, "Do not read keys from the terminal", .boolean,
      others: ["--headless --no-stdin --non-interactive --no-tty": "use --no-keys"],
      option: { $0.readsKeys = !$1 }),
    Setting(
      "--color", .output, "Use color: auto, always or never", value: "WHEN", default: "auto",
      scope: .session, key: .key("color", "when to color messages", in: .project),
      ValueType<ColorMode>.choice,
      others: [
        "--no-color --no-colour --no-colours --no-colors": "use --color never",
        "--colour --colors --force-color": "use --color always",
      ],
      option: { $0.colorMode = $1 }),
    flag(
      "-h --help", .output, "Show this help and exit", others: ["-? --usage": "use --help"]
    ) { $0.task = .help },
    flag("-V --version", .output, "Show the version and exit") { $0.task = .version },
    Setting(
      "--man", .output, "Show the manual and exit: 1, or 5 for project files", value: "SECTION",
      default: "1",
      ValueType<Manual>.choice, omitted: .command, others: ["--manual": "use --man"],
      option: { $0.task = .manual($1) }),
    Setting(
      "--completions", .output, "Print completions for bash, zsh or fish and exit", value: "SHELL",
      ValueType<CompletionShell>.choice, option: { $0.task = .completions($1) }),
  ]
}
