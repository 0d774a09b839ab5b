import Dispatch
import Synchronization
import SystemCalls

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

  /// - Parameter queue: Where answers are given.
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
