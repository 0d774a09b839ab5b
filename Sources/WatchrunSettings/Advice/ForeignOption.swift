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
    if name.hasPrefix("--build.") { return Self.airBuild }
    if isOne(of: Self.commands) { return command }
    if isOne(of: "--regex --regexp"), let filter = value.flatMap(Pattern.option) {
      return "patterns are globs, not regular expressions: \(ShellWords.quoted(filter.map(\.word)))"
    }
    let rows = Self.rows + Setting.all.flatMap(\.others)
    guard let ours = rows.first(where: { isOne(of: $0.key) })?.value else { return nil }
    return ours.utf8.contains(UInt8(ascii: "%")) ? line(ours) : ours
  }

  /// What a value that watchrun refuses means in another tool; `nil` if nothing is known.
  func hint(forValue refused: String?) -> String? {
    let isWord = refused?.first?.isLetter == true
    switch name {
    // entr: directories; reflex: decoration.
    case "-d" where ["none", "plain", "fancy"].contains(refused):
      return "-d is the quiet period, and no option decorates output"
    case "-d" where isWord: return "-d is the quiet period, and new files count without an option"
    // bacon: a job.
    case "-j" where isWord, "--jobs" where isWord:
      return "to run a task, name it: watchrun \(refused ?? "")"
    // reflex: a service.
    case "-s" where (refused ?? "").utf8.count < 2: return "to restart a server on a change: -r"
    case "--open": return "it opens the page, as in: watchrun --serve . --open"
    default: return nil
    }
  }

  private func isOne(of names: String) -> Bool {
    names.split(separator: Character(" ")).contains { $0 == name }
  }

  private var value: String? {
    let next = after.first.flatMap { $0.first == UInt8(ascii: "-") ? nil : $0 }
    return (attached ?? next).map { $0.decoded }
  }

  /// Our option with the value, if it takes it, and otherwise with its placeholder. A number without a unit is in
  /// seconds, or in milliseconds where that would be minutes; a regular expression is no pattern.
  private func line(_ ours: String) -> String {
    let name = ours.split { " =".contains($0) }.dropLast().last ?? ""
    guard let option = Option.named(name) else { return ours }
    let use = "use \(ours.filled(with: option.value ?? "")): \(option.phrase)"
    guard var text = value, !text.includes(".*"),
      !text.contains(where: { " \\^$|(+".contains($0) })
    else { return use }
    if option.value == "TIME", let number = Double(text) { text += number < 50 ? "s" : "ms" }
    var reader = ValueReader(text.word)
    let isRead = Setting.option(option.long)?.read(&reader) != nil && reader.findings.isEmpty
    return isRead ? "write: " + ours.filled(with: ShellWords.quoted(text.word)) : use
  }

  private static let commands =
    "--exec -x --command --cmd --execute --run -X --runner --on-change --onchange"

  /// `-x test` of cargo-watch, `--exec 'python3 app.py'` of nodemon.
  private var command: String {
    guard let value else {
      let usual = UsualLines(directory: directory).test ?? "make test"
      return "give the command last, as in: watchrun \(usual)"
    }
    // fswatch: all events.
    if directory.holdsDirectory(value) { return "to print changes: watchrun --print lines" }
    let rest = attached == nil ? Array(after.dropFirst()) : after
    if name == "-x", directory.holds("Cargo.toml"),
      let line = TypedLine.ofCargo(["-x".word, value.word] + rest, before)
    {
      return "write: \(line)"
    }
    return "write: \(TypedLine.line(before + TypedLine.words(ofLine: value.word) + rest))"
  }
}

// MARK: - The table

extension ForeignOption {
  private static let airBuild = "write: watchrun --build 'go build -o app .' -r ./app"

  /// Options that stand for none of ours alone, and what to say. The others are in the table of settings.
  private static let rows: KeyValuePairs = [
    "--bin --build-cmd": airBuild,
    "--one-shot --oneshot -1 -z --exit --run-once": "use --once",
    "-m --monitor":
      "to print changes: watchrun --print lines; to run a module: watchrun python3 -m MODULE; a "
      + "process: watchrun NAME",
    "--formation --concurrency":
      "each process runs once; for more, write a task for each: watchrun --init",
    "-n --dry-run --just-print":
      "to see changes without a run: --print lines; to run without a shell: --shell none; runs "
      + "follow changes, not a clock",
    "--list --tasks --list-jobs": "use --list-tasks",
    "-l": "use --list-tasks, or for the quiet period, -d 500ms",
    "--regex --regexp --inverse-regex -R":
      "patterns are globs, not regular expressions: -f '*.go' or -i '*_test.go'",
    "--server --livereload --live-reload --live --browser": "use --serve DIR or --proxy URL",
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
  ]
}
