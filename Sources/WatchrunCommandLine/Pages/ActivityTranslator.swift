import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

/// Translates the reports of a command or of the tasks of a project into the activity of pages.
///
/// A pure state machine: it only remembers whether a round is open. Reports must be passed in order.
struct ActivityTranslator {
  /// The tasks of the command line; `nil` in a project.
  var command: CommandTasks?
  /// The services of a project, and whether a readiness check is defined for each.
  var services: [String: Bool] = [:]
  /// Changes beneath this directory are reported by their relative paths.
  let directory: Path
  private(set) var isInRound = false
  /// Whether no job of the command line runs that ends by itself.
  var isSettled = true
  /// Whether the command line's server was started or stopped a moment ago.
  var isServerBeginning = false

  init(_ command: CommandTasks? = nil, directory: Path) {
    self.command = command
    self.directory = directory
  }

  mutating func beginRound(_ trigger: RunTrigger) -> [Activity] {
    // A trigger during a round begins another one.
    let end = endRound(succeeded: false)
    isInRound = true
    let changes = trigger.changes.map { change in
      Activity.Change(
        path: change.path.relative(to: directory) ?? change.path, kind: change.kind.rawValue)
    }
    return end + [.roundBegan(reason: trigger.reason.rawValue, changes: changes)]
  }

  mutating func endRound(succeeded: Bool) -> [Activity] {
    guard isInRound else { return [] }
    isInRound = false
    return [.roundEnded(succeeded: succeeded)]
  }

  static func notStarted(_ task: String, _ error: SystemError, _ status: ExitStatus) -> [Activity] {
    let program = error.path.map { "\($0)" } ?? task
    return [
      .output(task: task, line: Array("cannot run \(program): \(error.reason)".utf8)),
      .ended(task: task, .failed, status: Int(status.code), duration: .zero),
    ]
  }
}
