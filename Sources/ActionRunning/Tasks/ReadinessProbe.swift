import Dispatch
import Support
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
