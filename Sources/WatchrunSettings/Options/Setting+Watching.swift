import ActionRunning
import FileObservation
import PathFiltering

extension Setting {
  static let watching: [Setting] = [
    Setting(
      "-w --watch", .watching, "Watch PATH recursively", default: "current directory",
      isRepeatable: true,
      key: .key(
        "watch", "files and directories to watch", in: .task,
        default: "\".\", or none in a task with 'after'",
        others: ["files", "paths", "sources", "inputs"]),
      .paths, others: ["--file --dir --watch-dir --root": "name what to watch with -w PATH"],
      option: { $0.watched += $1.map { WatchedPath($0) } }, task: { $0.watched = $1 }),
    Setting(
      "-W --watch-shallow", .watching, "Watch PATH without its subdirectories", isRepeatable: true,
      taskKey: "watch",
      .paths, others: ["--watch-non-recursive --non-recursive": "use -W DIR"],
      option: { $0.watched += $1.map { WatchedPath($0, isRecursive: false) } }),
    Setting(
      "--files-from", .watching, "Watch the paths listed in FILE (-: standard input)",
      scope: .command,
      .file, others: ["--watch-file -F": "list the files with --files-from FILE"],
      option: { $0.filesFrom = $1 }),
    Setting(
      "-L --follow-symlinks", .watching, "Follow symbolic links to directories", .boolean,
      option: { $0.followsLinks = $1 }),
    Setting(
      "--poll", .watching, "Poll instead of using kernel events (network drives)",
      key: .key(
        "poll", "true or an interval: poll instead of using kernel events", in: .project,
        others: ["interval"]),
      .polling, omitted: Polling(.always),
      others: [
        "--legacy-watch --polling --use-polling --usePolling": "use --poll",
        "--interval --poll-interval --polling-interval --force-poll": "--poll=%",
      ],
      option: { $0.polling = $1 }),
    Setting(
      "-C --directory", .watching, "Change to DIR first", scope: .session, .directory,
      others: ["--workdir --cwd --chdir --path --project-origin": "use -C DIR"],
      option: { $0.directory = $1 }),
    answer("--doctor", .watching, "Report what is watched and what limits it, and exit", .doctor),
  ]

  static let filtering: [Setting] = [
    Setting(
      "-e --exts", .filtering, "Only files with these extensions, such as c,h", isRepeatable: true,
      key: .key(
        "exts", "only files with these extensions", in: .task, others: ["extensions", "ext"]),
      .extensions,
      others: ["--ext --extension --extensions --filter-exts": "-e %"],
      task: { $0.extensions += $1 }),
    Setting(
      "-f --filter", .filtering, "Only paths that match GLOB (gitignore syntax)",
      isRepeatable: true,
      key: .key(
        "filter", "only paths that match (gitignore syntax)", in: .task, others: ["include"]),
      .globs,
      others: [
        "--filter-file --filter-prog": "give each pattern with -f",
        "--include --files --pattern --patterns --glob -g --match --only": "-f %",
      ],
      task: { $0.filters += $1 }),
    Setting(
      "-i --ignore", .filtering, "Ignore paths that match GLOB (gitignore syntax)",
      isRepeatable: true,
      key: .key(
        "ignore", "ignore paths that match (gitignore syntax)", in: .project, .task,
        others: ["exclude"]),
      .globs,
      others: [
        "--ignore-file": "put the patterns into .watchrunignore, or give each with -i",
        "--exclude --exclude-dir --exclude_dir --skip --inverse-glob -G": "-i %",
      ],
      task: { $0.ignores += $1 }, project: { $0.ignores = $1 }),
    Setting(
      "--writes", .filtering, "Paths that the command writes; they start no run",
      isRepeatable: true, scope: [.run, .results], taskKey: "writes",
      key: .key(
        "writes", "paths that the task writes; they start no run of it (gitignore syntax)",
        in: .task, others: ["outputs", "generates"]),
      .globs, task: { $0.writes += $1 }),
    flag("--no-vcs-ignore", .filtering, "Do not read .gitignore and other files of git") {
      $0.ignoreSources.remove(.versionControl)
    },
    flag("--no-project-ignore", .filtering, "Do not read .ignore and .watchrunignore") {
      $0.ignoreSources.remove(.project)
    },
    flag("--no-global-ignore", .filtering, "Do not read the ignore files in ~/.config") {
      $0.ignoreSources.remove(.global)
    },
    flag("--no-default-ignore", .filtering, "Do not ignore .git, node_modules and similar") {
      $0.ignoreSources.remove(.defaults)
    },
    flag(
      "--ignore-nothing", .filtering, "Use no ignore rules except those of -i",
      others: ["--no-ignore --all --no-discover-ignore": "use --ignore-nothing"]
    ) { $0.ignoreSources = [] },
    answer(
      "--explain", .filtering, "Print the rule that decides for each PATH, and exit", .explain),
    Setting(
      "--events", .filtering, "Only these events: create, modify, remove, rename, metadata",
      default: "all except metadata; with --print, all",
      key: .key("events", "only these kinds of change", in: .task, default: "all except metadata"),
      .changes,
      replacesKeys: true,
      others: [
        "--fs-events --event": "use --events LIST",
        "--no-meta": "changes of metadata do not count unless --events names them",
      ],
      task: { $0.kinds = $1 }),
    Setting(
      "--skip-unchanged", .filtering, "Ignore saves that do not change a file's content",
      key: .key("skipUnchanged", in: .project), .boolean, option: { $0.skipsUnchanged = $1 }),
  ]

  static let timing: [Setting] = [
    Setting(
      "-d --debounce", .timing, "Quiet period before a run, such as 50ms", default: "auto",
      key: .key(
        "debounce", "quiet period before a run, or \"auto\"", in: .project, others: ["delay"]),
      .quietPeriod,
      others: ["--delay --throttle --quiet-period --latency": "-d %"],
      option: { $0.quietPeriod = $1 }),
    Setting(
      "--max-wait", .timing, "Run after TIME even if changes go on", default: "1s",
      .duration, option: { $0.longestWait = $1 }),
    Setting(
      "-p --postpone", .timing, "Wait for a change before the first run", scope: .run,
      key: .key("postpone", in: .task), .boolean, task: { $0.isPostponed = $1 }),
    Setting(
      "--fresh", .timing, "At the start, leave out what is up to date: yes or no",
      default: "yes", scope: .project,
      ValueType<FreshMode>.choice,
      others: ["--force --no-cache --skip-cache --always-make": "use --fresh no"],
      option: { $0.freshMode = $1 }),
    Setting(
      key: .key(
        "fresh",
        "not run at the start if nothing has changed since its last success, where writes says "
          + "what it makes", in: .task, default: "true", others: ["cache", "uptodate"]),
      .boolean, task: { $0.isFreshAllowed = $1 }),
    Setting(
      "--once", .timing, "Exit after the first run, with its status", scope: .run,
      conflicts: [
        .init(others: ["keep-alive"], reason: "ends after the first run"),
        .init(
          others: ["until-success", "exit-on-error"],
          reason: "ends after the first run, whether or not it succeeds"),
      ],
      .boolean, option: { $0.endsAfterFirstRun = $1 }),
    Setting(
      "--exit-on-error", .timing, "Exit after the first run that fails", scope: .run,
      .boolean, others: ["--exitcrash --exit-crash --fail-fast --bail": "use --exit-on-error"],
      option: { $0.endsOnFailure = $1 }),
    Setting(
      "--until-success", .timing, "Exit after the first run that succeeds", scope: .run,
      .boolean, option: { $0.endsOnSuccess = $1 }),
  ]
}
