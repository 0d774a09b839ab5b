import FileObservation
import Support
import Synchronization
import SystemCalls

/// Checks whether a service has become ready: polls it, or examines its output.
///
/// Its port is polled at a short interval, which costs it nothing until it listens. A URL is requested as soon as its
/// port accepts connections, and then at growing intervals, at which a command runs as well. A service that is not
/// ready in time is reported as late, and checked further, once a second. Nothing is polled after it is ready. All
/// happens on the queue of the runner.
final class ReadinessCheck: Sendable {
  enum Result: Hashable, Sendable {
    case ready
    /// Not ready in time. `ready` may follow.
    case late
  }

  private struct State {
    var isOver = false
    var isListening = false
    var isLate = false
    var interval = BackOff(ReadinessCheck.pollingInterval ... .milliseconds(250), growth: 1.5)
    var deadline: (any ScheduledWork)?
    var next: (any ScheduledWork)?
  }

  private static let pollingInterval = Duration.milliseconds(15)
  private static let intervalWhenLate = Duration.seconds(1)
  private static let intervalsOfCommand = BackOff(
    .milliseconds(50) ... .milliseconds(1000), growth: 1.5)

  private let state = Mutex(State())
  private let readiness: TaskDefinition.Readiness
  private let scheduler: any Scheduler
  private let probe: any ReadinessProbe
  private let report: @Sendable (Result) -> Void

  /// - Parameter report: Called on the queue, which is that of the scheduler and of the probe.
  init(
    _ readiness: TaskDefinition.Readiness, scheduler: any Scheduler, probe: any ReadinessProbe,
    report: @escaping @Sendable (Result) -> Void
  ) {
    self.readiness = readiness
    if case .command = readiness.condition {
      state.withLock { $0.interval = Self.intervalsOfCommand }
    }
    self.scheduler = scheduler
    self.probe = probe
    self.report = report
  }

  func begin() {
    let end = scheduler.now.advanced(by: readiness.timeout)
    let deadline = scheduler.schedule(at: end) { [weak self] in self?.timeOut() }
    state.withLock { $0.deadline = deadline }
    if case .line = readiness.condition { return }
    ask()
  }

  func sees(_ line: [UInt8]) {
    guard case .line(let text) = readiness.condition, !state.withLock(\.isOver) else { return }
    if TerminalLine(line).text.firstIndex(of: text) != nil { succeed() }
  }

  private func ask() {
    let port = state.withLock(\.isListening) ? nil : readiness.condition.port
    probe.ask(port.map { .port($0) } ?? readiness.condition) { [weak self] isMet in
      self?.answered(isMet, isPort: port != nil)
    }
  }

  private func answered(_ isMet: Bool, isPort: Bool) {
    if state.withLock(\.isOver) { return }
    if isMet, isPort, case .url = readiness.condition {
      state.withLock { $0.isListening = true }
      return ask()
    }
    if isMet { return succeed() }
    let interval = state.withLock { state in
      if state.isLate { return max(Self.intervalWhenLate, readiness.interval ?? .zero) }
      if let interval = readiness.interval { return interval }
      return isPort ? Self.pollingInterval : state.interval.next()
    }
    let next = scheduler.schedule(at: scheduler.now.advanced(by: interval)) { [weak self] in
      self?.ask()
    }
    state.withLock { $0.next = next }
  }

  private func timeOut() {
    state.withLock { $0.isLate = true }
    report(.late)
  }

  private func succeed() {
    if cancel() { report(.ready) }
  }

  /// Returns false if the check was over before.
  @discardableResult
  func cancel() -> Bool {
    let before = state.withLock { state in
      defer {
        state.isOver = true
        (state.deadline, state.next) = (nil, nil)
      }
      return state
    }
    before.deadline?.cancel()
    before.next?.cancel()
    probe.cancel()
    return !before.isOver
  }
}
