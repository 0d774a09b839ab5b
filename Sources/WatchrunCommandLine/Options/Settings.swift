import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import SessionControl
import SystemCalls

/// What is set for a command, by options, or for a task, by keys.
struct TaskSettings: Hashable, Sendable {
  var extensions: [[UInt8]] = []
  var filters: [GlobPattern] = []
  var ignores: [GlobPattern] = []
  /// `nil` for the default.
  var kinds: Set<ChangeBatch.Kind>?
  var isPostponed = false
  /// What a change during a run does; `nil` for the default.
  var onBusy: BusyMode?
  var stopPlan = StopPlan()
  var timeout: Duration?
  /// Shell lines.
  var onSuccess: [UInt8]?
  var onFailure: [UInt8]?
  /// The shell for shell lines.
  var shell = Settings.Shell.whenNeeded
  var environment: [Command.EnvironmentVariable] = []
  /// `nil` for that of the project, or the default.
  var outputMode: OutputMode?
  /// Whether it writes to a pseudo-terminal if its output is read; `nil` for the default.
  var usesPseudoTerminal: Bool?
}

/// The parsed command line.
@dynamicMemberLookup
struct Settings: Sendable {
  /// What watchrun does.
  enum Task: Hashable, Sendable {
    case run
    case explain
    case doctor
    case help
    case version
    case manual(Manual)
    case completions(CompletionShell)
    case listTasks
    case initialize
    case check
    case schema
    /// Asks the session of this directory; the words are tasks.
    case ask(SessionRequest.Verb)

    /// Whether this asks or orders a session, so that words are names and no command.
    var isForSession: Bool { if case .ask = self { true } else { false } }

    /// Whether this asks about a project and runs nothing.
    var isAboutProject: Bool {
      switch self {
      case .listTasks, .initialize, .check, .schema: true
      case .run, .explain, .doctor, .help, .version, .manual, .completions, .ask: false
      }
    }
  }

  /// Whether the command is run by a shell.
  enum Shell: Hashable, Sendable {
    /// If the command is a single argument that needs a shell.
    case whenNeeded
    case always([UInt8])
    case never
  }

  enum PrintMode: String, CaseIterable, Sendable {
    case json
    case lines
  }

  enum EmitMode: String, CaseIterable, Sendable {
    case env
    case lines
    case json
    case none
  }

  var task = Task.run
  /// What tasks can have, too.
  var shared = TaskSettings()
  var command: [[UInt8]] = []
  /// Whether `--` marks the beginning of the command, which is then never a task.
  var isCommandMarked = false
  /// The options that were given: long names, and how each was written, such as `-e` or `--exts`.
  var given: [String: String] = [:]
  /// What replaces the keys of every task.
  var replacements: [Assignment] = []
  /// The words before the command.
  var optionWords: [[UInt8]] = []

  /// The tasks to run, if not all.
  var taskNames: [String] = []
  /// The project file, if it was named.
  var projectFile: Path?

  var watched: [WatchedPath] = []
  /// A file that lists what to watch; `-` is standard input.
  var filesFrom: Path?
  /// The first path of the list.
  var firstOfList: Path?
  var directory: Path?
  var followsLinks = false
  var polling = Polling()

  var ignoreSources = IgnoreSources.all
  var skipsUnchanged = false

  var quietPeriod = QuietPeriod.adaptive
  /// The value of `--max-wait`.
  var longestWait: Duration?

  /// The mode of `--on-busy`.
  var namedBusyMode: BusyMode?
  var signal: Signal?
  var emitMode = EmitMode.env
  /// A shell line.
  var build: [UInt8]?
  var keepsAlive = false
  var isInteractive = false
  var readsKeys = true
  var endsAfterFirstRun = false
  var endsOnFailure = false
  var endsOnSuccess = false

  /// What a page of a project can have, too.
  var page = Project.Page(name: "page")
  var opensBrowser = false
  var editor: String?

  /// The time of `--wait` or `--send hold`.
  var questionTime: Duration?
  /// Whether `--status` or `--logs` goes on.
  var follows = false
  /// The value of `--lines`.
  var outputLines: Int?

  var diagnosticsFile: Path?
  var statusLine = StatusLineMode.auto
  var printMode: PrintMode?
  var separatesByNUL = false
  /// Whether the answer to a question is printed as JSON.
  var answersInJSON = false
  var isQuiet = false
  var isVerbose = false
  var clearsScreen = false
  var colorMode = ColorMode.auto
  var notifyMode = NotifyMode.never
  var ringsBell = false

  subscript<Value>(dynamicMember member: WritableKeyPath<TaskSettings, Value>) -> Value {
    get { shared[keyPath: member] }
    set { shared[keyPath: member] = newValue }
  }
}

extension Settings {
  var busyMode: BusyMode { self.onBusy ?? .queue }

  var busyPolicy: BusyPolicy { busyMode.policy(signal ?? self.stopPlan.signal) }

  /// Whether the round that begins at the start is the last one, so that nothing needs to be watched.
  var isOneRound: Bool {
    guard endsAfterFirstRun && !self.isPostponed else { return false }
    switch busyPolicy {
    case .queue, .ignore: return true
    case .restart, .signal: return false
    }
  }

  /// The longest time for which a burst is collected; never shorter than a quiet period that was chosen.
  var maximumWait: Duration {
    if let longestWait { return longestWait }
    if case .fixed(let period) = quietPeriod { return max(period, .seconds(1)) }
    return .seconds(1)
  }

  var completion: CompletionRule {
    if endsAfterFirstRun || (endsOnFailure && endsOnSuccess) { return .firstRun }
    if endsOnFailure { return .firstFailure }
    return endsOnSuccess ? .firstSuccess : .never
  }

  var changeDelivery: Command.ChangeDelivery {
    switch emitMode {
    case .env: .environment
    case .lines: .lines(separatedByNUL: separatesByNUL)
    case .json: .json
    case .none: .none
    }
  }

  /// The kinds of changes that count: those of `--events`, by default all except metadata, and all with
  /// `--print`.
  ///
  /// With `--skip-unchanged`, metadata is not a default either: a file that was rewritten with the same
  /// content would be reported as a change of its metadata.
  var effectiveKinds: Set<ChangeBatch.Kind> {
    if let kinds = self.kinds { return kinds }
    return printMode == nil || skipsUnchanged
      ? ChangeBatch.Kind.usual : Set(ChangeBatch.Kind.allCases)
  }

  /// The current directory if no path and no list is given.
  var effectiveWatched: [WatchedPath] {
    watched.isEmpty && filesFrom == nil ? [WatchedPath(".")] : watched
  }

  /// Whether a shell runs the command: the one of `--shell`, or that of the user for a single argument that
  /// needs one.
  var isRunByShell: Bool {
    switch self.shell {
    case .never: false
    case .always: true
    case .whenNeeded: command.count == 1 && ShellLine(command[0]).needsShell
    }
  }

  /// Whether a project is run instead of a command.
  var isForProject: Bool {
    task == .run && printMode == nil && command.isEmpty && !hasPage
  }

  /// Whether an option needs the output of the command, or of a single task.
  var readsOutput: Bool {
    diagnosticsFile != nil || self.outputMode == .failed || effectiveStatusLine == .always
      || self.usesPseudoTerminal == true && !Terminal.isTerminal(STDOUT_FILENO)
  }

  /// Whether the status line is shown where it can be.
  var effectiveStatusLine: StatusLineMode {
    let isLong = isForProject && !isOneRound && !isQuiet
    return statusLine == .auto && !isLong ? .never : statusLine
  }

  var hasPage: Bool { page.served != nil || !page.proxies.isEmpty }

  /// Whether a page is served and no command is run.
  var isForPageAlone: Bool { hasPage && command.isEmpty }
}
