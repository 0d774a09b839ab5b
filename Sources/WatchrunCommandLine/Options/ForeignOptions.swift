/// Options of other tools, and what to write instead.
///
/// A row is only read if the option table has no option of that name.
enum ForeignOptions {
  /// Returns what to write instead of an option such as `--delay` or `-x`.
  static func advice(for written: String) -> String? {
    if written.hasPrefix("--build.") { return airBuild }
    return rows.first { $0.names.contains(written) }?.advice
  }

  private static let airBuild = "write: watchrun --build 'go build -o app .' -r ./app"

  private static let rows: [(names: [String], advice: String)] = [
    // Paths and patterns.
    (
      ["--ext", "--extension", "--extensions", "--filter-exts"],
      "list extensions with -e, as in: -e js,css"
    ),
    (
      ["--exclude", "--exclude-dir", "--exclude_dir", "--skip", "--inverse-glob", "-G"],
      "give patterns to leave out with -i, as in: -i 'build/'"
    ),
    (
      ["--include", "--pattern", "--patterns", "--glob", "-g", "--match", "--only"],
      "give patterns with -f, as in: -f 'src/*.js'"
    ),
    (
      ["--regex", "--regexp", "--inverse-regex", "-R"],
      "patterns are globs, not regular expressions: -f '*.go' or -i '*_test.go'"
    ),
    (
      ["--ignore-file"],
      "put the patterns into .watchrunignore, or give each with -i"
    ),
    (["--filter-file", "--filter-prog"], "give each pattern with -f"),
    (["--no-ignore", "--all", "--no-discover-ignore"], "use --ignore-nothing"),
    (["--watch-non-recursive", "--non-recursive"], "use -W DIR"),
    (["--recursive"], "directories are watched recursively by default"),
    (["--watch-file", "-F"], "list the files with --files-from FILE"),
    (["--file", "--dir", "--watch-dir", "--root"], "name what to watch with -w PATH"),
    (["--workdir", "--cwd", "--chdir", "--path", "--project-origin"], "use -C DIR"),
    (["--fs-events", "--event"], "use --events LIST"),
    (["--no-meta"], "changes of metadata do not count unless --events names them"),
    // The command.
    (
      ["--exec", "-x", "--command", "--cmd", "--execute", "--run", "-X"],
      "give the command last, as in: watchrun make test"
    ),
    (
      ["--no-shell", "--no-shell-long"],
      "use --shell none; without an option, only a single argument is run by a shell"
    ),
    (["--use-shell"], "use --shell SHELL"),
    (["--no-environment", "--no-env"], "use --emit none"),
    (["--emit-events-to"], "use --emit env, lines or json"),
    (["--env-file"], "give each variable with -E NAME=VALUE"),
    (
      ["--inspect", "--inspect-brk", "--require", "--loader", "--import"],
      "options of the program follow it, as in: watchrun -r node --inspect app.js"
    ),
    (
      ["--release", "--features", "--workspace", "--package"],
      "options of the program follow it, as in: watchrun cargo build --release"
    ),
    (["--job", "-j", "--jobs"], "name tasks, as in: watchrun test; \"jobs\" is in watchrun.json"),
    (["--bin", "--build-cmd"], airBuild),
    // When.
    (
      ["--delay", "--delay-run", "--throttle", "--quiet-period", "--latency"],
      "set the quiet period with -d, as in: -d 500ms"
    ),
    (
      ["--interval", "--poll-interval", "--polling-interval", "--force-poll"],
      "set the polling interval with --poll=1s"
    ),
    (["--legacy-watch", "--polling", "--use-polling", "--usePolling"], "use --poll"),
    (
      ["--initial", "--no-initial", "--skip-initial", "--ignore-initial", "--run-on-change-only"],
      "the first run is at the start; -p waits for a change"
    ),
    (["--one-shot", "--oneshot", "-1", "-z", "--exit", "--run-once"], "use --once"),
    // While a command runs.
    (["--watch-when-idle", "--do-nothing"], "use -o ignore"),
    (["--on-busy-update", "--busy"], "use -o queue, ignore, restart or signal"),
    (["--start-service", "--service", "--reload", "--respawn", "--autorestart"], "use -r"),
    (
      ["--no-restart", "--sequential", "-a"], "a change during a run queues one more run by default"
    ),
    (["--kill", "-k"], "use -r, with --stop-signal KILL"),
    (["--kill-delay", "--kill-timeout", "--kill_delay"], "use --stop-timeout TIME"),
    (["--map-signal"], "signals are passed on as they are; use -s SIGNAL for changes"),
    (["--exitcrash", "--exit-crash", "--fail-fast", "--bail"], "use --exit-on-error"),
    (["--max-restarts"], "restarts are not limited; they back off instead"),
    (
      ["--no-process-group", "--wrap-process"],
      "the command always runs in a process group of its own"
    ),
    (["--stdin-quit"], "watchrun ends with q, Ctrl-C or SIGTERM"),
    // Output.
    (
      ["-n", "--dry-run", "--just-print"],
      "to see changes without a run: --print lines; to run without a shell: --shell none"
    ),
    (["--only-emit-events", "--print-events", "--show-events"], "use --print json or lines"),
    (["--headless", "--no-stdin", "--non-interactive", "--no-tty"], "use --no-keys"),
    (["--silent", "--no-log", "-Q"], "use -q"),
    (["--debug", "--trace", "--dump"], "use -v"),
    (["--log-file", "--log"], "redirect standard error, as in: watchrun make test 2>log"),
    (["--no-color", "--no-colour", "--no-colours", "--no-colors"], "use --color never"),
    (["--colour", "--colors", "--force-color"], "use --color always"),
    (["--notification", "--notifications", "--desktop-notify"], "use --notify"),
    (["--timings", "--timing"], "the duration of each run is printed by default"),
    (["--livereload", "--live-reload", "--live", "--browser"], "use --serve DIR or --proxy URL"),
    (["--list", "--tasks", "--list-jobs", "-l"], "use --list-tasks"),
    (["-?", "--usage"], "use --help"),
  ]
}
