import Dispatch
import SystemCalls

/// Asks a service whether it is ready: the system's does, or a test's.
protocol ReadinessProbe: Sendable {
  /// Asks once, and calls `answer`, on whatever queue it was made for.
  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void)
}

/// Asks over the loopback, beside the queue on which it answers.
struct SystemProbe: ReadinessProbe {
  private static let patienceForPort = Duration.milliseconds(250)
  private static let patienceForPage = Duration.seconds(5)

  let queue: DispatchQueue

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    DispatchQueue.global(qos: .userInitiated).async {
      let isReady = Self.isReady(condition)
      queue.async { answer(isReady) }
    }
  }

  /// Takes its time.
  static func isReady(_ condition: TaskDefinition.Readiness.Condition) -> Bool {
    switch condition {
    case .port(let port):
      return (try? Connection(to: "localhost", port: port, within: patienceForPort)) != nil
    case .url(let url):
      guard let address = HTTPAddress(url), let status = try? status(of: address) else {
        return false
      }
      return status < 500
    case .line:
      return false
    }
  }

  private static func status(of address: HTTPAddress) throws(SystemError) -> Int? {
    let connection = try Connection(to: address.host, port: address.port, within: patienceForPage)
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
