import ActionRunning
import FileObservation
import LiveReload
import PathFiltering

/// What the command line asks for, checked and typed.
struct Settings: Sendable {
  /// What watchrun is to do.
  enum Task: Hashable, Sendable {
    case run
    case explain
    case help
    case version
    case manual(Manual)
    case completions(CompletionShell)
    case listTasks
    case initialize
    case check
    case schema

    /// Whether this is a question about a project, which runs nothing.
    var isAboutProject: Bool {
      switch self {
      case .listTasks, .initialize, .check, .schema: true
      case .run, .explain, .help, .version, .manual, .completions: false
      }
    }
  }

  /// How a command becomes a process.
  enum Shell: Hashable, Sendable {
    /// A shell if the command is one word that needs one.
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
  var command: [[UInt8]] = []
  /// The options that were given: long names, and how each was written, such as `-e` or `--exts`.
  var given: [String: String] = [:]

  /// The tasks to run, if not all.
  var taskNames: [String] = []
  /// The project file, if it was named.
  var projectFile: Path?

  var watched: [WatchedPath] = []
  /// A file that lists what to watch; `-` is standard input.
  var filesFrom: Path?
  /// The first that it lists.
  var firstOfList: Path?
  var directory: Path?
  var followsLinks = false
  var polling = Polling()

  var extensions: [[UInt8]] = []
  var filters: [GlobPattern] = []
  var ignores: [GlobPattern] = []
  var ignoreSources = IgnoreSources.all
  var kinds: Set<ChangeBatch.Kind>?
  var skipsUnchanged = false

  var quietPeriod = QuietPeriod.adaptive
  var maximumWait = Duration.seconds(1)

  var isPostponed = false
  var busyMode = BusyMode.queue
  var signal: Signal?
  var stopPlan = StopPlan()
  var emitMode = EmitMode.env
  /// Lines for a shell.
  var build: [UInt8]?
  var onSuccess: [UInt8]?
  var onFailure: [UInt8]?
  var timeout: Duration?
  var keepsAlive = false
  var shell = Shell.whenNeeded
  var environment: [Command.EnvironmentVariable] = []
  var isInteractive = false
  var readsKeys = true
  var endsAfterFirstRun = false
  var endsOnFailure = false
  var endsOnSuccess = false

  /// The directory of `--serve`.
  var served: Path?
  /// The server of `--proxy`.
  var upstream: ServerAddress?
  var pagePort: UInt16?
  var pageHosts: [String] = []
  var opensBrowser = false
  /// The value of `--editor`.
  var editor: String?

  var printMode: PrintMode?
  var separatesByNUL = false
  var isQuiet = false
  var isVerbose = false
  var clearsScreen = false
  var colorMode = ColorMode.auto
}

extension Settings {
  var busyPolicy: BusyPolicy {
    switch busyMode {
    case .queue: .queue
    case .ignore: .ignore
    case .restart: .restart
    case .signal: .signal(signal ?? stopPlan.signal)
    }
  }

  /// Whether the first round, which begins at the start, is the last one, so that no change matters.
  var isOneRound: Bool {
    guard endsAfterFirstRun && !isPostponed else { return false }
    switch busyPolicy {
    case .queue, .ignore: return true
    case .restart, .signal: return false
    }
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

  /// The kinds that count: those of `--events`; by default all but metadata, and with `--print` all.
  ///
  /// `--skip-unchanged` asks for changes of content, so metadata is not a default there: an unchanged
  /// file that was written again would be reported as a change of its metadata.
  var effectiveKinds: Set<ChangeBatch.Kind> {
    if let kinds { return kinds }
    let all = Set(ChangeBatch.Kind.allCases)
    return printMode == nil || skipsUnchanged ? all.subtracting([.metadata]) : all
  }

  /// Without a path or a list, it is the folder where we are.
  var effectiveWatched: [WatchedPath] {
    watched.isEmpty && filesFrom == nil ? [WatchedPath(".")] : watched
  }

  /// True if there is no command to run but a project.
  var isForProject: Bool {
    task == .run && printMode == nil && command.isEmpty && !hasPage
  }

  /// Whether the command line asks for a page.
  var hasPage: Bool { served != nil || upstream != nil }

  /// Whether a page is served and no command is run.
  var isForPageAlone: Bool { hasPage && command.isEmpty }
}
