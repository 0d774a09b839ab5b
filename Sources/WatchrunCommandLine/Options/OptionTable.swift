import ActionRunning
import FileObservation
import PathFiltering
import Support

/// An option: what it is called, what it takes, what it is for, and what it does.
///
/// The parser, the help and whatever else speaks of options all read this one table.
struct Option: Sendable {
  enum Group: String, CaseIterable, Sendable {
    case watching = "What is watched"
    case filtering = "Which changes count"
    case timing = "When"
    case running = "How the command is run"
    case page = "Page"
    case project = "The project file, watchrun.json (without a command)"
    case output = "Output"
  }

  typealias Apply = @Sendable (inout Settings, _ value: [UInt8]) throws(UsageError) -> Void

  let short: Character?
  let long: String
  /// What stands for its value in the help; nil if it takes none. One that may be left out is
  /// written `[=VALUE]`, which is also how it is given.
  let placeholder: String?
  let group: Group
  /// One or several lines of at most 60 columns.
  let help: String
  let apply: Apply

  init(
    _ short: Character?, _ long: String, _ placeholder: String? = nil, _ group: Group,
    _ help: String, _ apply: @escaping Apply
  ) {
    self.short = short
    self.long = long
    self.placeholder = placeholder
    self.group = group
    self.help = help
    self.apply = apply
  }

  /// True if it may stand without a value; then that is never the next word.
  var isValueOptional: Bool { placeholder?.hasPrefix("[") == true }
}

/// All options, in the order of the help.
enum OptionTable {
  static let options: [Option] = watching + filtering + timing + running + page + project + output

  private static let watching: [Option] = [
    Option("w", "watch", "PATH", .watching, "file or folder to watch, recursively (default: .)") {
      (settings, value) throws(UsageError) in
      settings.watched.append(WatchedPath(try path(value)))
    },
    Option("W", "watch-shallow", "PATH", .watching, "folder to watch without its subfolders") {
      (settings, value) throws(UsageError) in
      settings.watched.append(WatchedPath(try path(value), isRecursive: false))
    },
    Option(
      nil, "files-from", "FILE", .watching, "watch what FILE lists, one a line; -: standard input"
    ) { (settings, value) throws(UsageError) in
      settings.filesFrom = try path(value)
    },
    Option("L", "follow-symlinks", nil, .watching, "enter symbolic links to folders") {
      settings, _ in settings.followsLinks = true
    },
    Option(
      nil, "poll", "[=INTERVAL]", .watching, "look for changes; do not ask the kernel for them"
    ) { (settings, value) throws(UsageError) in
      settings.polling = try polling(value)
    },
    Option("C", "directory", "DIR", .watching, "change to DIR first") {
      (settings, value) throws(UsageError) in
      settings.directory = try path(value)
    },
  ]

  private static let filtering: [Option] = [
    Option("e", "exts", "LIST", .filtering, "only files with these extensions, as in swift,md") {
      (settings, value) throws(UsageError) in
      let list = value.split(separator: UInt8(ascii: ",")).map(Array.init)
      if list.isEmpty { throw UsageError("expected extensions, as in swift,md") }
      settings.extensions += list
    },
    Option("f", "filter", "GLOB", .filtering, "only paths that match, in gitignore syntax") {
      (settings, value) throws(UsageError) in
      settings.filters.append(try glob(value))
    },
    Option("i", "ignore", "GLOB", .filtering, "not paths that match, in gitignore syntax") {
      (settings, value) throws(UsageError) in
      settings.ignores.append(try glob(value))
    },
    Option(nil, "no-vcs-ignore", nil, .filtering, "do not read .gitignore and its kin") {
      settings, _ in settings.ignoreSources.remove(.versionControl)
    },
    Option(nil, "no-project-ignore", nil, .filtering, "do not read .ignore and .watchrunignore") {
      settings, _ in settings.ignoreSources.remove(.project)
    },
    Option(nil, "no-global-ignore", nil, .filtering, "do not read your own ignore files") {
      settings, _ in settings.ignoreSources.remove(.global)
    },
    Option(
      nil, "no-default-ignore", nil, .filtering, "do not leave out .git, node_modules and the like"
    ) { settings, _ in settings.ignoreSources.remove(.defaults) },
    Option(nil, "ignore-nothing", nil, .filtering, "none of these; only what -i says") {
      settings, _ in settings.ignoreSources = []
    },
    Option(
      nil, "explain", nil, .filtering, "run nothing; for each PATH given, the rule that decides"
    ) { settings, _ in settings.task = .explain },
    Option(
      nil, "events", "LIST", .filtering,
      """
      only these of create,modify,remove,rename,metadata
      (default: all but metadata; with --print all, unless
      --skip-unchanged is given)
      """
    ) { (settings, value) throws(UsageError) in
      settings.kinds = try kinds(value)
    },
    Option(
      nil, "skip-unchanged", nil, .filtering,
      "ignore saves that do not change the content (up to 8 MiB)"
    ) { settings, _ in settings.skipsUnchanged = true },
  ]

  private static let timing: [Option] = [
    Option(
      "d", "debounce", "DURATION", .timing,
      "how long nothing must change, as in 50ms, 1s, 0 (default: auto)"
    ) { (settings, value) throws(UsageError) in
      let isAuto = value.elementsEqual("auto".utf8)
      settings.quietPeriod = isAuto ? .adaptive : .fixed(try duration(value))
    },
    Option(nil, "max-wait", "DURATION", .timing, "the longest a burst is collected (default: 1s)") {
      (settings, value) throws(UsageError) in
      settings.maximumWait = try duration(value)
    },
    Option("p", "postpone", nil, .timing, "do not run at the start, only on the first change") {
      settings, _ in settings.isPostponed = true
    },
    Option(nil, "once", nil, .timing, "exit after the first run that ends, with its status") {
      settings, _ in settings.endsAfterFirstRun = true
    },
    Option(nil, "exit-on-error", nil, .timing, "exit after the first run that fails") {
      settings, _ in settings.endsOnFailure = true
    },
    Option(nil, "until-success", nil, .timing, "exit after the first run that succeeds") {
      settings, _ in settings.endsOnSuccess = true
    },
  ]

  private static let running: [Option] = [
    Option(
      "o", "on-busy", "MODE", .running,
      "on a change in a run: queue, ignore, restart, signal (default: queue)"
    ) { (settings, value) throws(UsageError) in
      settings.busyMode = try choice(value)
    },
    Option("r", "restart", nil, .running, "the same as --on-busy restart") {
      settings, _ in settings.busyMode = .restart
    },
    Option("s", "signal", "SIGNAL", .running, "on a change, send the running command SIGNAL") {
      (settings, value) throws(UsageError) in
      settings.signal = try signal(value)
      settings.busyMode = .signal
    },
    Option(nil, "stop-signal", "SIGNAL", .running, "how it is asked to end (default: TERM)") {
      (settings, value) throws(UsageError) in
      settings.stopPlan.signal = try signal(value)
    },
    Option(
      nil, "stop-timeout", "DURATION", .running,
      "how long it may take to, before it is killed (default: 10s)"
    ) { (settings, value) throws(UsageError) in
      settings.stopPlan.timeout = try duration(value)
    },
    Option(nil, "timeout", "DURATION", .running, "stop a run that takes longer; it has failed") {
      (settings, value) throws(UsageError) in
      let time = try duration(value)
      if time == .zero { throw UsageError("expected more time than 0") }
      settings.timeout = time
    },
    Option(nil, "keep-alive", nil, .running, "start it again when it ends by itself") {
      settings, _ in settings.keepsAlive = true
    },
    Option(
      nil, "build", "COMMAND", .running, "shell line to run first; the command only if it succeeds"
    ) { (settings, value) throws(UsageError) in
      settings.build = try line(value)
    },
    Option(nil, "on-success", "COMMAND", .running, "shell line to run after a run that succeeds") {
      (settings, value) throws(UsageError) in
      settings.onSuccess = try line(value)
    },
    Option(nil, "on-failure", "COMMAND", .running, "shell line to run after a run that fails") {
      (settings, value) throws(UsageError) in
      settings.onFailure = try line(value)
    },
    Option(
      nil, "shell", "SHELL", .running,
      "shell for any command; none: never one (default: if it needs one)"
    ) { (settings, value) throws(UsageError) in
      let shell = try path(value).bytes
      settings.shell = shell.elementsEqual("none".utf8) ? .never : .always(shell)
    },
    Option(
      nil, "emit", "MODE", .running,
      "how it learns what changed: env, lines, json, none (default: env)"
    ) { (settings, value) throws(UsageError) in
      settings.emitMode = try choice(value)
    },
    Option("E", "env", "NAME=VALUE", .running, "set a variable for the command") {
      (settings, value) throws(UsageError) in
      settings.environment.append(try variable(value))
    },
    Option("I", "interactive", nil, .running, "give the terminal to the command") {
      settings, _ in settings.isInteractive = true
    },
  ]

  private static let project: [Option] = [
    Option("t", "task", "NAME", .project, "only this task, and what it stands after") {
      (settings, value) throws(UsageError) in
      if value.isEmpty { throw UsageError("expected the name of a task, not nothing") }
      settings.taskNames.append(text(value))
    },
    Option(nil, "config", "FILE", .project, "the project file (default: watchrun.json)") {
      (settings, value) throws(UsageError) in
      settings.projectFile = try path(value)
    },
    Option(nil, "list-tasks", nil, .project, "run nothing; list the tasks, a line each") {
      settings, _ in settings.task = .listTasks
    },
    Option(nil, "init", nil, .project, "run nothing; write a project file, if there is none") {
      settings, _ in settings.task = .initialize
    },
    Option(nil, "check", nil, .project, "run nothing; say what is wrong with the project file") {
      settings, _ in settings.task = .check
    },
    Option(nil, "schema", nil, .project, "print the JSON schema of project files") {
      settings, _ in settings.task = .schema
    },
  ]

  private static let output: [Option] = [
    Option(nil, "print", "MODE", .output, "print each batch of changes: json, lines; run nothing") {
      (settings, value) throws(UsageError) in
      settings.printMode = try choice(value)
    },
    Option(
      "0", "null", nil, .output,
      """
      NUL instead of newline in --files-from, --print, --explain
      and --emit lines
      """
    ) {
      settings, _ in settings.separatesByNUL = true
    },
    Option("c", "clear", nil, .output, "clear the screen before each run") {
      settings, _ in settings.clearsScreen = true
    },
    Option("q", "quiet", nil, .output, "only problems") { settings, _ in
      settings.isQuiet = true
      settings.isVerbose = false
    },
    Option("v", "verbose", nil, .output, "every decision") { settings, _ in
      settings.isVerbose = true
      settings.isQuiet = false
    },
    Option(nil, "no-keys", nil, .output, "read no keys (otherwise, h lists them)") {
      settings, _ in settings.readsKeys = false
    },
    Option(nil, "color", "WHEN", .output, "auto, always, never (default: auto)") {
      (settings, value) throws(UsageError) in
      settings.colorMode = try choice(value)
    },
    Option("h", "help", nil, .output, "show this") { settings, _ in settings.task = .help },
    Option("V", "version", nil, .output, "show the version") { settings, _ in
      settings.task = .version
    },
  ]
}

// MARK: - Values

extension OptionTable {
  static func path(_ value: [UInt8]) throws(UsageError) -> Path {
    if value.isEmpty { throw UsageError("expected a path, not nothing") }
    return Path(bytes: value)
  }

  static func line(_ value: [UInt8]) throws(UsageError) -> [UInt8] {
    if value.isEmpty { throw UsageError("expected a command, not nothing") }
    return value
  }

  private static func glob(_ value: [UInt8]) throws(UsageError) -> GlobPattern {
    guard let pattern = GlobPattern(line: value) else {
      throw UsageError("expected a pattern, not '\(Path(bytes: value))'")
    }
    if let defect = pattern.defect {
      throw UsageError("the pattern '\(Path(bytes: value))' \(defect)")
    }
    return pattern
  }

  static func text(_ value: [UInt8]) -> String {
    String(decoding: value, as: UTF8.self)
  }

  /// Without a value, how often is left to the observer.
  private static func polling(_ value: [UInt8]) throws(UsageError) -> Polling {
    if value.isEmpty { return Polling(.always) }
    let interval = try duration(value)
    let shortest = Duration.milliseconds(10)
    if interval < shortest { throw UsageError("an interval is to be at least 10ms") }
    return Polling(.always, interval: interval...interval)
  }

  private static func duration(_ value: [UInt8]) throws(UsageError) -> Duration {
    guard let duration = Duration(parsing: text(value)) else {
      throw UsageError("'\(Path(bytes: value))' is no duration; write 50ms, 1.5s, 2m or 0")
    }
    return duration
  }

  private static func signal(_ value: [UInt8]) throws(UsageError) -> Signal {
    if let signal = Signal(name: text(value)) { return signal }
    let nearest = nearestName(to: text(value).uppercased(), among: Signal.names)
    throw UsageError(
      "'\(Path(bytes: value))' is no signal" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ value: [UInt8]
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: text(value)) { return choice }
    let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw UsageError("'\(Path(bytes: value))' is none of \(names)")
  }

  private static func variable(
    _ value: [UInt8]
  ) throws(UsageError) -> Command.EnvironmentVariable {
    guard let cut = value.firstIndex(of: UInt8(ascii: "=")), cut > 0 else {
      throw UsageError("'\(Path(bytes: value))' is not NAME=VALUE")
    }
    return .init(name: Array(value[..<cut]), value: Array(value[(cut + 1)...]))
  }

  static let kindNames: KeyValuePairs<String, ChangeBatch.Kind> = [
    "create": .created, "modify": .modified, "remove": .removed, "rename": .renamed,
    "metadata": .metadata,
  ]

  private static func kinds(_ value: [UInt8]) throws(UsageError) -> Set<ChangeBatch.Kind> {
    var kinds: Set<ChangeBatch.Kind> = []
    for name in value.split(separator: UInt8(ascii: ",")) {
      guard let kind = kindNames.first(where: { name.elementsEqual($0.key.utf8) }) else {
        let names = kindNames.map(\.key).joined(separator: ", ")
        throw UsageError("'\(Path(bytes: name))' is none of \(names)")
      }
      kinds.insert(kind.value)
    }
    if kinds.isEmpty { throw UsageError("expected kinds of change, as in create,modify") }
    return kinds
  }
}
