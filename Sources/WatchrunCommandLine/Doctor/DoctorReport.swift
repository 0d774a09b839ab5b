import FileObservation
import SystemCalls

/// The facts that `--doctor` prints, and the problems that follow from them.
struct DoctorReport {
  /// The project of the directory. Without a file and without a kind there is none.
  struct Project {
    /// Whether the tasks are watched, because no command is given.
    var isUsed: Bool
    var file: Path?
    /// The detected project, and its tasks.
    var detected: String?
    /// The names of the tasks and pages.
    var tasks: [String] = []
    var errors: [String] = []
  }

  /// The kernel; `nil` if its version is unknown.
  var system: String?
  var directory: Path
  var project: Project
  var survey: TreeSurvey
  /// The names of the file systems of the roots, in their order; `nil` where it is unknown.
  var fileSystems: [String?]
  var scanTime: Duration
  /// `nil` where there is no inotify.
  var inotify: InotifyUsage?
  var usesBuiltInList: Bool
  var quietPeriod: QuietPeriod
  var maximumWait: Duration
}

extension DoctorReport {
  /// What keeps changes from being noticed, or makes that slow: what happened, why, and what to do.
  var problems: [String] {
    let missing = survey.roots.filter(\.isMissing).map {
      "\(shown($0.path)) does not exist; it is watched as soon as it does"
    }
    return survey.failures.map(\.description) + missing + survey.warnings.map(\.text)
      + limitProblems + project.errors
  }

  /// Whether a root exists and can be read, as far as is known.
  func isReadable(_ root: TreeSurvey.Root) -> Bool {
    !root.isMissing
      && !survey.warnings.contains { $0.code == .unreadableDirectory && $0.path == root.path }
  }

  private var limitProblems: [String] {
    guard let inotify else { return [] }
    var problems: [String] = []
    let used = inotify.used
    let isNative = survey.watches > 0
    if let limit = inotify.limits.watches, isNative, survey.watches + used.watches > limit {
      problems.append(
        "not every directory can be watched: \(grouped(survey.watches)) watches are needed, and "
          + "\(grouped(used.watches)) of \(grouped(limit)) are in use; the others are polled; "
          + ObserverWarning.raiseWatchLimit(for: survey.watches + used.watches))
    }
    if let limit = inotify.limits.instances, isNative, used.instances >= limit {
      problems.append(
        "no inotify instance is free: \(grouped(used.instances)) of \(grouped(limit)) are in use; "
          + "everything is polled; \(ObserverWarning.raiseInstanceLimits)")
    }
    return problems
  }

  /// A path relative to the current directory, if it is in it.
  func shown(_ path: Path) -> String {
    path.shown(in: directory).description
  }

  /// A number with commas between thousands.
  func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0 && index % 3 == 0 && digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// A number with its noun: "1 file", "1,204 files".
  func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
  }
}
