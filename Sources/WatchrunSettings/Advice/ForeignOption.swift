import Support
import SystemCalls

/// An option of another tool, as it was given.
struct ForeignOption {
  /// As it was written: `--delay`, or `-x` of `-rx`.
  let name: String
  /// What is attached to it with `=`.
  var attached: [UInt8]?
  var before: [[UInt8]] = []
  var after: [[UInt8]] = []
  let directory: ProjectDirectory

  /// What to write instead; `nil` if nothing is known.
  var advice: String? {
    if name.hasPrefix("--build.") || ["--bin", "--build-cmd"].contains(name) {
      return Self.airBuild
    }
    if let row = Self.rows.first(where: { isOne(of: $0.names) }) {
      return row.answer?(self) ?? row.advice
    }
    let tables = [Self.others] + Setting.all.map(\.others)
    return tables.lazy.flatMap { Array($0) }.first { isOne(of: $0.key) }?.value
  }

  /// What a value that watchrun refuses means in another tool; `nil` if nothing is known.
  func hint(forValue refused: String?) -> String? {
    Self.values.firstResult { $0.names.contains(name) ? $0.answer?(refused, self) : nil }
  }

  private func isOne(of names: String) -> Bool {
    names.split(separator: Character(" ")).contains { $0 == name }
  }

  private var value: String? {
    let next = after.first.flatMap { $0.first == UInt8(ascii: "-") ? nil : $0 }
    return (attached ?? next).map { $0.decoded }
  }

  private var rest: [[UInt8]] { attached == nil ? Array(after.dropFirst()) : after }

  private func type(of path: String) -> FileType? {
    directory.type(of: Path(path))
  }

  private static let airBuild = "write: watchrun --build 'go build -o app .' -r ./app"

  /// A value of an option that exists here, too.
  private struct ValueRow: Sendable {
    let names: [String]
    let answer: (@Sendable (_ value: String?, ForeignOption) -> String?)?
  }

  private static let values: [ValueRow] = [
    ValueRow(names: ["-d"]) { value, _ in
      guard let value, value.first?.isLetter == true else { return nil }
      // reflex: decoration; entr: directories.
      return "-d is the quiet period"
        + (["none", "plain", "fancy"].contains(value)
          ? ", and no option decorates output" : ", and new files count without an option")
    },
    ValueRow(names: ["-j", "--jobs"]) { value, _ in
      // bacon: a job.
      value?.first?.isLetter == true ? "to run a task, name it: watchrun \(value ?? "")" : nil
    },
    ValueRow(names: ["-s"]) { value, option in
      // reflex: a service, and a regular expression after it.
      guard (value ?? "").utf8.count < 2 else { return nil }
      var command = option.after
      guard value == "r", let pattern = command.first,
        let filter = Pattern.option(for: pattern.decoded)
      else { return "to restart a server on a change: -r" }
      command.removeFirst()
      if command.first == "--".word { command.removeFirst() }
      return "write: \(TypedLine.line(["-r".word] + filter.map(\.word) + command))"
    },
    ValueRow(names: ["-o"]) { value, option in
      // fswatch: one line for each batch.
      value.flatMap { option.type(of: $0) == nil ? nil : changes(option, [$0]) }
    },
    ValueRow(names: ["--open"]) { _, _ in "it opens the page, as in: watchrun --serve . --open" },
  ]

  private struct Row: Sendable {
    /// Separated by spaces.
    let names: String
    let advice: String
    /// For some values and directories.
    var answer: (@Sendable (ForeignOption) -> String?)?
  }

  private static func row(
    _ names: String, _ advice: String, _ answer: (@Sendable (ForeignOption) -> String?)? = nil
  ) -> Row {
    Row(names: names, advice: advice, answer: answer)
  }
}

// MARK: - Answers with what was given

extension ForeignOption {
  /// `-x test` of cargo-watch, `--exec 'python3 app.py'` of nodemon, `-x .` of fswatch.
  @Sendable private static func command(_ option: ForeignOption) -> String? {
    guard let value = option.value else { return example(option) }
    if option.type(of: value) == .directory { return changes(option) }
    let isCargo = option.name == "-x" && option.directory.holds("Cargo.toml")
    let words = ["-x".word, value.word] + option.rest
    if isCargo, let watch = CargoWatch(words, isCargo: true) {
      return "write: \(watch.line(option.before))"
    }
    let command = TypedLine.words(ofLine: value.word)
    return "write: \(TypedLine.line(option.before + command + option.rest))"
  }

  /// An example from the project of the directory.
  @Sendable private static func example(_ option: ForeignOption) -> String? {
    UsualLines(directory: option.directory).test.map {
      "give the command last, as in: watchrun \($0)"
    }
  }

  /// inotifywait and fswatch: what they print.
  @Sendable private static func changes(_ option: ForeignOption) -> String? {
    changes(option, option.after.map { $0.decoded })
  }

  private static func changes(_ option: ForeignOption, _ words: [String]) -> String? {
    let (line, paths) = (TypedLine(words: [], directory: option.directory), paths(option, words))
    return "to print changes: \(line.printing(paths)); to wait for one: \(line.waiting(paths))"
  }

  /// fswatch: what it prints after a quiet period.
  private static func changes(_ option: ForeignOption, after period: String) -> String {
    let line = TypedLine(words: [], directory: option.directory)
    let words = option.after.map { $0.decoded }
    return "to print changes: \(line.printing(paths(option, words))) -d \(period)"
  }

  /// The words that are paths, unless that is the directory, which is watched anyway.
  private static func paths(_ option: ForeignOption, _ words: [String]) -> [[UInt8]] {
    let paths = words.filter { option.type(of: $0) != nil }.map(\.word)
    return paths == [".".word] ? [] : paths
  }

  /// `python3 -m pytest` without its first word.
  private static func module(_ option: ForeignOption) -> String? {
    guard option.name == "-m", let value = option.value, option.type(of: value) == nil else {
      return nil
    }
    let words = ["python3".word, "-m".word] + option.after
    return "write: \(TypedLine.line(option.before + words))"
  }

  /// foreman: how many there are of each process, `web=1,worker=2`.
  private static func formation(_ option: ForeignOption) -> String? {
    let counts = (option.value ?? "").split(separator: Character(",")).compactMap {
      let parts = $0.split(separator: Character("="))
      return parts.count == 2 ? Int(parts[1]).map { (name: String(parts[0]), count: $0) } : nil
    }
    if counts.isEmpty { return nil }
    let names = counts.filter { $0.count > 0 }.map(\.name)
    let line = "write: \(TypedLine.line(names.contains("all") ? [] : names))"
    return counts.contains { $0.count > 1 }
      ? "\(line), which runs each once; for more, write a task for each: watchrun --init" : line
  }

  /// A glob with the option that takes it; `nil` for a regular expression.
  @Sendable private static func pattern(_ option: ForeignOption, _ write: String) -> String? {
    guard let value = option.value, !value.contains(where: { "\\^$|(+".contains($0) }),
      !value.includes(".*")
    else { return nil }
    return "write: \(write) \(ShellWords.quoted(value.word))"
  }

  /// A number without a unit is in seconds, but in milliseconds where that would be minutes.
  private static func duration(_ option: ForeignOption) -> String? {
    guard let value = option.value else { return nil }
    let number = Double(value)
    let text = number.map { $0 < 50 ? "\(value)s" : "\(value)ms" } ?? value
    return Duration(parsing: text).map { _ in text }
  }

  @Sendable private static func duration(_ option: ForeignOption, _ write: String) -> String? {
    duration(option).map { "write: \(write)\($0)" }
  }
}

// MARK: - The table

extension ForeignOption {
  private static let rows: [Row] = [
    row(
      "--ext --extension --extensions --filter-exts",
      "list extensions with -e, as in: -e js,css",
      { option in
        let isList = option.value?.allSatisfy { $0.isLetter || $0.isNumber || ",.".contains($0) }
        return isList == true ? option.value.map { "write: -e \($0)" } : nil
      }
    ),
    row(
      "--exclude --exclude-dir --exclude_dir --skip --inverse-glob -G",
      "give patterns to leave out with -i, as in: -i 'build/'",
      { option in pattern(option, "-i") }
    ),
    row(
      "--include --files --pattern --patterns --glob -g --match --only",
      "give patterns with -f, as in: -f 'src/*.js'",
      { option in pattern(option, "-f") }
    ),
    row(
      "--exec -x --command --cmd --execute --run -X --runner --on-change --onchange",
      "give the command last, as in: watchrun make test", command
    ),
    row(
      "--delay --throttle --quiet-period --latency",
      "set the quiet period with -d, as in: -d 500ms", { duration($0, "-d ") }
    ),
    row(
      "--interval --poll-interval --polling-interval --force-poll",
      "set the polling interval with --poll=1s", { duration($0, "--poll=") }
    ),
    row("--one-shot --oneshot -1 -z --exit --run-once", "use --once") { option in
      let isPath = option.value.map { option.type(of: $0) != nil } ?? false
      return isPath ? changes(option) : nil
    },
    row(
      "-m --monitor --formation --concurrency",
      "to print changes: watchrun --print lines"
    ) { formation($0) ?? module($0) ?? changes($0) },
    row(
      "-n --dry-run --just-print",
      "to see changes without a run: --print lines; to run without a shell: --shell none",
      { option in
        option.value.flatMap(Double.init) == nil
          ? nil : "runs follow changes, not a clock: leave it out"
      }
    ),
    row("--list --tasks --list-jobs -l", "use --list-tasks") { option in
      // fswatch: the latency.
      let isNumber = option.value.flatMap(Double.init) != nil
      return isNumber ? duration(option).map { changes(option, after: $0) } : nil
    },
    row("--regex --regexp", patternsAreGlobs) { option in
      option.value.flatMap(Pattern.option).map {
        "patterns are globs, not regular expressions: \(ShellWords.quoted($0.map(\.word)))"
      }
    },
    row("--server", "use --serve DIR") { option in
      let isDirectory = option.value.map { option.type(of: $0) == .directory } ?? false
      return "write: --serve " + (isDirectory ? ShellWords.quoted((option.value ?? "").word) : ".")
    },
    row("--entry-file --spa", "use --serve DIR --fallback FILE") { option in
      option.value.map { "write: --serve . --fallback \(ShellWords.quoted($0.word))" }
    },
  ]

  private static let patternsAreGlobs =
    "patterns are globs, not regular expressions: -f '*.go' or -i '*_test.go'"

  /// Those with one answer, beside those in the table of settings.
  private static let others: KeyValuePairs<String, String> = [
    "--inverse-regex -R": patternsAreGlobs,
    "--recursive": "directories are watched recursively by default",
    "--inspect --inspect-brk --require --loader --import":
      "options of the program follow it, as in: watchrun -r node --inspect app.js",
    "--release --features --workspace --package":
      "options of the program follow it, as in: watchrun cargo build --release",
    "--job": "name tasks, as in: watchrun test; \"jobs\" is in watchrun.json",
    "--delay-run": "runs are not delayed; put it into the command: 'sleep 1 && make'",
    "--initial --no-initial --skip-initial --ignore-initial --run-on-change-only --now":
      "the first run is at the start; -p waits for a change",
    "--no-process-group --wrap-process": "the command always runs in a process group of its own",
    "--stdin-quit": "watchrun ends with q, Ctrl-C or SIGTERM",
    "--timings --timing": "the duration of each run is printed by default",
    "--livereload --live-reload --live --browser": "use --serve DIR or --proxy URL",
  ]
}
