import ActionRunning
import Dispatch
import SystemCalls

/// A program that runs independently of watchrun, such as a browser or an editor: without a terminal, and
/// beyond the end of watchrun.
struct DetachedProgram: Sendable {
  private static let queue = DispatchQueue(label: "watchrun.programs")

  let arguments: [[UInt8]]

  /// Starts the program. If it exits with a failure, `failed` is called on a queue with the reason.
  func start(failed: @escaping @Sendable (_ reason: String) -> Void) throws(SystemError) {
    var request = SpawnRequest(
      arguments: arguments, environment: processEnvironment(), standardInput: .null)
    request.output = try PipeInput.discarding()
    request.errors = request.output
    let launcher = SystemLauncher(queue: Self.queue)
    let group = try launcher.launch(request) { status in
      if status.isSuccess { return }
      failed("failed with status \(status.code)")
    }
    SystemLauncher.exclude(group.leader)
  }
}
