import FileObservation
import Support
import Synchronization
import SystemCalls

/// Runs a command that tells by its status whether a service is ready. For one readiness check.
final class CommandProbe: ReadinessProbe {
  typealias Launch =
    @Sendable (_ ended: @escaping @Sendable (ExitStatus) -> Void) throws(SystemError) ->
    any LaunchedGroup

  private struct State {
    var group: (any LaunchedGroup)?
    var timer: (any ScheduledWork)?
  }

  /// A command that runs longer is killed.
  private static let limit = Duration.seconds(10)

  private let state = Mutex(State())
  private let scheduler: any Scheduler
  private let launch: Launch

  /// - Parameter launch: Starts the command.
  init(scheduler: any Scheduler, launch: @escaping Launch) {
    (self.scheduler, self.launch) = (scheduler, launch)
  }

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    do throws(SystemError) {
      let group = try launch { [self] status in
        state.withLock { exchange(&$0, with: State()) }.timer?.cancel()
        answer(status.isSuccess)
      }
      let end = scheduler.now.advanced(by: Self.limit)
      let timer = scheduler.schedule(at: end) { _ = group.sendToAll(.kill) }
      state.withLock { $0 = State(group: group, timer: timer) }
    } catch {
      answer(false)
    }
  }

  func cancel() {
    _ = state.withLock { $0.group }?.sendToAll(.kill)
  }
}
