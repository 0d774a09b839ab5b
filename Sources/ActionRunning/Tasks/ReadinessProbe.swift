import Dispatch
import FileObservation
import Support
import Synchronization
import SystemCalls

/// Tests once whether a condition holds. Unit tests use a fake.
protocol ReadinessProbe: Sendable {
  /// Tests the condition and calls `answer`, on the queue for which the probe was created.
  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void)
  /// Ends a test whose answer is no longer needed.
  func cancel()
}

extension ReadinessProbe {
  func cancel() {}
}

/// Connects to the service, on a separate queue, and answers on its own.
struct SystemProbe: ReadinessProbe {
  private static let timeoutForPort = Duration.milliseconds(250)
  private static let timeoutForURL = Duration.seconds(5)

  let queue: DispatchQueue

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    DispatchQueue.separate(qos: .userInitiated).async {
      let isReady = Self.isReady(condition)
      queue.async { answer(isReady) }
    }
  }

  /// Tests the condition. Blocks for up to five seconds.
  static func isReady(_ condition: TaskDefinition.Readiness.Condition) -> Bool {
    switch condition {
    case .port(let port):
      return (try? Connection(to: "localhost", port: port, within: timeoutForPort)) != nil
    case .url(let url, let statuses):
      guard let address = HTTPAddress(url, allowsTLS: true), let status = try? status(of: address)
      else { return false }
      return statuses.isEmpty ? status < 500 : statuses.contains(status)
    case .line, .command:
      return false
    }
  }

  private static func status(of address: HTTPAddress) throws(SystemError) -> Int? {
    var connection = try Connection(to: address.host, port: address.port, within: timeoutForURL)
    if address.isEncrypted { try connection.encrypt(for: address.host) }
    try connection.send(Array(address.request.utf8))
    var answer: [UInt8] = []
    while answer.count < 12 {
      let part = try connection.receive(atMost: 256)
      if part.isEmpty { return nil }
      answer += part
    }
    return HTTPAddress.status(in: answer)
  }
}

/// Tells whether a service accepts connections from the socket that this process holds for it, and has another probe
/// test other conditions. For one readiness check.
///
/// The kernel accepts connections whether the service runs or not, so the other end is looked at: the service is ready
/// when it has taken a connection that was made after its start, and all before that one.
final class SocketProbe: ReadinessProbe {
  private let socket: PassedSocket
  private let queue: DispatchQueue
  private let probe: any ReadinessProbe
  private let isConnected = Mutex(false)

  init(_ socket: PassedSocket, on queue: DispatchQueue, otherwise probe: any ReadinessProbe) {
    (self.socket, self.queue, self.probe) = (socket, queue, probe)
  }

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    guard condition.port == socket.port, case .port = condition else {
      return probe.ask(condition, answer)
    }
    if isConnected.withLock(\.self) { return answer(!socket.hasWaiting) }
    DispatchQueue.separate(qos: .userInitiated).async { [self] in
      let isConnected = (try? socket.connect()) != nil
      queue.async { [self] in
        self.isConnected.withLock { $0 = isConnected }
        // The kernel may not have put it into the queue yet.
        answer(false)
      }
    }
  }

  func cancel() { probe.cancel() }
}

/// Runs a command that tells by its status whether a service is ready. For one readiness check.
final class CommandProbe: ReadinessProbe {
  typealias Launch =
    @Sendable (_ ended: @escaping @Sendable (ExitStatus) -> Void) throws(SystemError) ->
    any LaunchedGroup

  private struct State {
    var group: (any LaunchedGroup)?
    var timer: (any ScheduledWork)?
  }

  private static let limit = Duration.seconds(10)

  private let state = Mutex(State())
  private let scheduler: any Scheduler
  private let launch: Launch

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
