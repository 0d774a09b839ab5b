import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

/// The tasks and pages of a directory. One from a file is validated: all dependencies exist, there is no
/// cycle, and every service with dependents has a readiness check.
struct Project: Hashable, Sendable {
  /// How many tasks may run side by side; nil for as many as there are cores.
  var jobs: Int?
  /// What changes start nothing at all.
  var ignores: [GlobPattern] = []
  /// In the order of the file.
  var tasks: [Task] = []
  /// In the order of the file.
  var pages: [Page] = []

  /// Something to run.
  struct Task: Hashable, Sendable {
    var name: String
    var run: Run
    var directory: Path?
    var environment: [Command.EnvironmentVariable] = []
    var watched: [Path] = []
    var extensions: [[UInt8]] = []
    var filters: [GlobPattern] = []
    var ignores: [GlobPattern] = []
    /// Nil for the usual ones.
    var kinds: Set<ChangeBatch.Kind>?
    var after: [String] = []
    /// True if it runs on, and is started again when it ends.
    var isService = false
    var readiness: TaskDefinition.Readiness?
    /// Nil for what is usual.
    var busyMode: Settings.BusyMode?
    var stopPlan = StopPlan()
    var timeout: Duration?
    var isPostponed = false
    /// Lines for a shell.
    var onSuccess: [UInt8]?
    var onFailure: [UInt8]?
  }

  /// What a task runs.
  enum Run: Hashable, Sendable {
    /// A line for the shell.
    case line(String)
    /// A program and its arguments.
    case words([String])
  }

  /// A page that is open in a browser.
  struct Page: Hashable, Sendable {
    enum Source: Hashable, Sendable {
      case folder(Path)
      case port(UInt16)
      case url(String)
    }

    var name: String
    var source: Source
    var port: UInt16?
    var reload: [Path] = []
    var after: [String] = []
    var hosts: [String] = []
    var fallback: String?
    var showsOverlay = true
    var listsDirectories = false
    var servesDotFiles = false
  }
}

/// Something in the project file that is not right, and where.
struct ProjectProblem: Error, Hashable, Sendable, Comparable, CustomStringConvertible {
  /// What was read, as it is shown.
  var file: String
  var position: TextPosition
  var message: String

  var description: String { "\(file):\(position): \(message)" }

  static func < (left: ProjectProblem, right: ProjectProblem) -> Bool {
    (left.position.line, left.position.column) < (right.position.line, right.position.column)
  }
}
