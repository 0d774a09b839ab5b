import ActionRunning

extension Setting {
  static let running: [Setting] = [
    Setting(
      "-o --on-busy", .running, "On a change: queue, ignore, restart, overlap or signal",
      default: "queue",
      key: .key(
        "onBusy",
        "action on a change during a run; overlap starts the next process before the former one "
          + "is stopped", in: .task, default: "queue; for a service: restart",
        others: ["restart", "reload", "zerodowntime"]),
      ValueType<BusyMode>.choice, replacesKeys: true,
      others: [
        "--watch-when-idle --do-nothing": "use -o ignore",
        "--on-busy-update --busy": "use -o queue, ignore, restart, overlap or signal",
        "--overlap --graceful --zero-downtime": "use -o overlap, with --listen PORT",
        "--no-restart --sequential -a": "a change during a run queues one more run by default",
      ],
      option: { ($0.onBusy, $0.namedBusyMode) = ($1, $1) }, task: { $0.onBusy = $1 }),
    Setting(
      "-r --restart", .running, "Restart a running command (--on-busy restart)", .boolean,
      replacesKeys: true,
      others: [
        "--start-service --service --reload --respawn --autorestart": "use -r",
        "--kill -k": "use -r, with --stop-signal KILL",
        "--max-restarts": "a command is restarted by each change; of a service, see restartLimit",
      ],
      task: { task, _ in task.onBusy = .restart }),
    Setting(
      "-s --signal", .running, "Send SIGNAL to a running command instead", taskKey: "onBusy",
      .signal,
      others: ["--map-signal": "signals are passed on as they are; use -s SIGNAL for changes"],
      option: { ($0.onBusy, $0.signal) = (.signal, $1) }),
    Setting(
      "--stop-signal", .running, "Stop the command with SIGNAL", default: "TERM",
      key: .key("stopSignal", "signal that stops the command", in: .task), .signal,
      replacesKeys: true,
      task: { $0.stopPlan.signal = $1 }),
    Setting(
      "--stop-timeout", .running, "Kill it TIME after the stop signal", default: "10s",
      key: .key("stopTimeout", "kill the command this long after the stop signal", in: .task),
      .duration, replacesKeys: true,
      others: ["--kill-delay --kill-timeout --kill_delay": "use --stop-timeout TIME"],
      task: { $0.stopPlan.timeout = $1 }),
    Setting(
      "--timeout", .running, "Stop runs after TIME, and count them as failed",
      key: .key("timeout", "stop a longer run; it counts as failed", in: .task), .positiveDuration,
      replacesKeys: true,
      task: { $0.timeout = $1 }),
    Setting(
      "--keep-alive", .running, "Start the command again whenever it exits", taskKey: "keepAlive",
      key: .key("keepAlive", "as service, but restarted however often it exits", in: .task),
      .boolean,
      task: { ($0.isKeptAlive, $0.isService) = ($1, $0.isService || $1) }),
    Setting(
      key: .key(
        "restartLimit",
        "how often in a row a service is restarted that ends without success", in: .task,
        default: "4", others: ["maxrestarts", "retries", "startlimitburst"]),
      .count(0...10_000), task: { $0.restartLimit = $1 }),
    Setting(
      key: .key(
        "backOff",
        "pause before such a restart, twice as long each time up to 8s", in: .task,
        default: "500ms", others: ["backoffseconds", "restartsec", "restartdelay"]),
      .positiveDuration, task: { $0.backOff = $1 }),
    Setting(
      "--listen", .running, "Hold a socket for the command, which gets it as descriptor 3",
      scope: [.command, .results],
      key: .key(
        "listen",
        "as port, but watchrun itself listens there, on an address before the port if there is "
          + "one, and the service gets the socket as descriptor 3", in: .task,
        others: ["socket", "sockets", "listenstream"]),
      .listenAddress, others: ["--socket --fd": "use --listen [HOST:]PORT"],
      task: { task, text in
        task.listen = ListenAddress(text)
        task.port = task.listen?.port
      }),
    Setting(
      "--build", .running, "Run COMMAND first, and go on only if it succeeds",
      scope: [.command, .results],
      .shellLine, option: { $0.build = $1 }),
    Setting(
      "--on-success", .running, "Run COMMAND after each run that succeeds",
      scope: [.command, .results],
      key: .key("onSuccess", "shell line to run after a successful run", in: .task), .shellLine,
      others: ["--onpass --on-pass": "use --on-success COMMAND"], task: { $0.onSuccess = $1 }),
    Setting(
      "--on-failure", .running, "Run COMMAND after each run that fails",
      scope: [.command, .results],
      key: .key("onFailure", "shell line to run after a failed run", in: .task), .shellLine,
      others: ["--onfail --on-fail --onerror --on-error": "use --on-failure COMMAND"],
      task: { $0.onFailure = $1 }),
    Setting(
      "--shell", .running, "Run the command in SHELL; none: never in a shell",
      default: "$SHELL, for a single argument that needs one",
      key: .key("shell", "shell for shell lines", in: .project, .task, default: "sh"), .shell,
      replacesKeys: true,
      others: [
        "--no-shell --no-shell-long":
          "use --shell none; without an option, only a single argument is run by a shell",
        "--use-shell": "use --shell SHELL",
      ],
      task: { $0.shell = $1 }),
    Setting(
      "--emit", .running,
      "Pass changed paths in variables (env), on standard input (lines, json), or not (none)",
      default: "env", scope: .command,
      ValueType<Settings.EmitMode>.choice,
      others: [
        "--no-environment --no-env": "use --emit none",
        "--emit-events-to": "use --emit env, lines or json",
      ],
      option: { $0.emitMode = $1 }),
    Setting(
      "-E --env", .running, "Set an environment variable for the command", isRepeatable: true,
      key: .key("env", "environment variables of the command", in: .task, others: ["environment"]),
      .variables, task: { $0.environment += $1 }),
    Setting(
      "--env-file", .running, "Set the variables of FILE, such as .env", isRepeatable: true,
      key: .key(
        "envFile", "files with variables, such as .env", in: .project, .task,
        others: ["dotenv", "envfiles", "environmentfile"]),
      .files, others: ["--dotenv --envfile --env_file": "use --env-file FILE"],
      task: { $0.environmentFiles += $1 }, project: { $0.environmentFiles = $1 }),
    Setting(
      "-I --interactive", .running, "Give the terminal to the command while it runs",
      scope: .command,
      conflicts: [
        .init(
          others: ["diagnostics", "log", "output", "pty", "status-line", "timestamps"],
          reason: "gives the terminal to the command",
          consequence: "cannot read its output"),
        .init(
          others: ["emit"], reason: "gives the terminal to the command",
          consequence: "cannot write to its standard input"),
      ],
      key: .key("interactive", in: .task), .boolean, task: { $0.isInteractive = $1 }),
  ]
}
