import LiveReload
import SessionControl
import Support
import SystemCalls

extension SessionEvent {
  private static let mostChanges = 20

  /// The event for an activity of the status page; `nil` if it says nothing by itself.
  init?(_ activity: Activity) {
    switch activity {
    case .roundBegan(let reason, let changes):
      self.init(.roundBegan, reason)
      self.changes = changes.prefix(Self.mostChanges).map { $0.path.description }
    case .started(let task): self.init(.started, task: task)
    case .stopping(let task): self.init(.stopping, task: task)
    case .ended(let task, let outcome, let status, let duration):
      self.init(.ended, task: task, outcome.rawValue)
      self.status = status
      milliseconds = duration.milliseconds
    case .roundEnded(let succeeded):
      self.init(.roundEnded)
      isGreen = succeeded
    case .tasks, .output, .diagnosed, .serving, .unsettled, .changed: return nil
    }
  }

  /// The event for people.
  var line: String {
    let prefix = task.map { "\($0.printable): " } ?? ""
    let time = milliseconds.map { Duration.milliseconds($0).shortDescription } ?? ""
    switch kind {
    case .roundBegan:
      return "round: \(text)" + (changes.isEmpty ? "" : " (\(changes.joined(separator: ", ")))")
    case .started: return prefix + "started"
    case .stopping: return prefix + "stopping"
    case .ended:
      let code = text == "failed" ? status.map { " with status \($0)" } ?? "" : ""
      return prefix + text + code + (milliseconds == 0 ? "" : " after \(time)")
    case .roundEnded: return "round ended: \(isGreen == true ? "succeeded" : "failed")"
    case .state: return "state: \(text)" + (isGreen == false ? ", red" : "")
    case .output: return prefix + text
    }
  }
}
