import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import SessionControl
import SystemCalls

/// The parsed command line.
@dynamicMemberLookup
package struct Settings: Sendable {
  /// What watchrun does.
  package enum Task: Hashable, Sendable {
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
    var isAboutProject: Bool { [.listTasks, .initialize, .check, .schema].contains(self) }
  }

  /// Whether the command is run by a shell.
  package enum Shell: Hashable, Sendable {
    /// If the command is a single argument that needs a shell.
    case whenNeeded
    case always([UInt8])
    case never
  }

  package enum PrintMode: String, CaseIterable, Sendable {
    case json
    case lines
  }

  enum EmitMode: String, CaseIterable, Sendable {
    case env
    case lines
    case json
    case none
  }

  package var task = Task.run
  /// The command as a task; its words are in `command`.
  package var own = Project.Task(name: "command", run: .words([]))
  package var command: [[UInt8]] = []
  /// Whether `--` marks the beginning of the command, which is then never a task.
  var isCommandMarked = false
  /// The options that were given: long names, and how each was written, such as `-e` or `--exts`.
  var given: [String: String] = [:]
  /// What replaces the keys of every task.
  var replacements: [Assignment] = []
  /// The words before the command.
  var optionWords: [[UInt8]] = []

  package var taskNames: [String] = []
  /// The arguments that are added to the command of the only one of them.
  var taskArguments: [[UInt8]] = []
  /// How many tasks run at once; `nil` for what the project says.
  var jobs: Int?
  var projectFile: Path?

  package var watched: [WatchedPath] = []
  /// A file that lists what to watch; `-` is standard input.
  package var filesFrom: Path?
  package var firstOfList: Path?
  package var directory: Path?
  package var followsLinks = false
  package var polling = Polling()

  package var ignoreSources = IgnoreSources.all
  package var skipsUnchanged = false

  package var quietPeriod = QuietPeriod.adaptive
  var longestWait: Duration?

  var namedBusyMode: BusyMode?
  var signal: Signal?
  var emitMode = EmitMode.env
  /// A shell line.
  package var build: [UInt8]?
  package var readsKeys = true
  package var endsAfterFirstRun = false
  /// Whether tasks that are fresh are not run at the start.
  package var freshMode = FreshMode.yes
  var endsOnFailure = false
  var endsOnSuccess = false

  /// What a page of a project can have, too.
  package var page = Project.Page(name: "page")
  package var opensBrowser = false
  package var editor: String?

  /// The time of `--wait` or `--send hold`.
  package var questionTime: Duration?
  package var follows = false
  package var outputLines: Int?

  package var diagnosticsFile: Path?
  var statusLine = StatusLineMode.auto
  package var printMode: PrintMode?
  package var separatesByNUL = false
  package var answersInJSON = false
  package var isQuiet = false
  package var isVerbose = false
  package var clearsScreen = false
  package var colorMode = ColorMode.auto
  package var showsTimes = false
  package var notifyMode = NotifyMode.never
  package var ringsBell = false

  package init() {}

  package subscript<Value>(dynamicMember member: WritableKeyPath<Project.Task, Value>) -> Value {
    get { own[keyPath: member] }
    set { own[keyPath: member] = newValue }
  }
}

extension Settings {
  /// A command with a socket is a server, which never ends.
  var busyMode: BusyMode { self.onBusy ?? (self.listen == nil ? .queue : .restart) }

  /// The policy that the user has chosen.
  package var chosenBusyPolicy: BusyPolicy? {
    self.onBusy == nil && self.listen == nil ? nil : busyPolicy
  }

  package var busyPolicy: BusyPolicy { busyMode.policy(signal ?? self.stopPlan.signal) }

  /// Whether the round that begins at the start is the last one, so that nothing needs to be watched.
  package var isOneRound: Bool {
    guard endsAfterFirstRun && !self.isPostponed else { return false }
    switch busyPolicy {
    case .queue, .ignore: return true
    case .restart, .overlap, .signal: return false
    }
  }

  /// The longest time for which a burst is collected; never shorter than a quiet period that was chosen.
  package var maximumWait: Duration {
    if let longestWait { return longestWait }
    if case .fixed(let period) = quietPeriod { return max(period, .seconds(1)) }
    return .seconds(1)
  }

  package var completion: CompletionRule {
    if endsAfterFirstRun || (endsOnFailure && endsOnSuccess) { return .firstRun }
    if endsOnFailure { return .firstFailure }
    return endsOnSuccess ? .firstSuccess : .never
  }

  package var changeDelivery: Command.ChangeDelivery {
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
  package var effectiveKinds: Set<ChangeBatch.Kind> {
    if let kinds = self.kinds { return kinds }
    return printMode == nil || skipsUnchanged
      ? ChangeBatch.Kind.usual : Set(ChangeBatch.Kind.allCases)
  }

  /// The current directory if no path and no list is given.
  package var effectiveWatched: [WatchedPath] {
    watched.isEmpty && filesFrom == nil ? [WatchedPath(".")] : watched
  }

  /// Whether a shell runs the command: the one of `--shell`, or that of the user for a single
  /// argument that needs one.
  package var isRunByShell: Bool {
    switch self.shell {
    case .never: false
    case .always: true
    case .whenNeeded: command.count == 1 && ShellLine(line: command[0]).needsShell
    }
  }

  package var isForProject: Bool {
    task == .run && printMode == nil && command.isEmpty && !hasPage
  }

  /// Whether an option needs the output of the command, or of a single task.
  package var readsOutput: Bool {
    diagnosticsFile != nil || showsTimes || self.log != nil || self.outputMode == .failed
      || effectiveStatusLine == .always
      || self.usesPseudoTerminal == true && !Terminal.isTerminal(STDOUT_FILENO)
  }

  /// Whether the status line is shown where it can be.
  package var effectiveStatusLine: StatusLineMode {
    let isLong = isForProject && !isOneRound && !isQuiet
    return statusLine == .auto && !isLong ? .never : statusLine
  }

  package var hasPage: Bool { page.served != nil || !page.proxies.isEmpty }

  package var isForPageAlone: Bool { hasPage && command.isEmpty }
}
