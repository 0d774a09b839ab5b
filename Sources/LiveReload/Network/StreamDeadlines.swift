import Support

/// The deadlines of a stream, each with the reason for which the stream is closed when it passes.
/// Each belongs to a state, which sets it when it is entered and clears it when it is left.
struct StreamDeadlines {
  enum Reason: CaseIterable {
    /// Connecting to a server.
    case connecting
    /// The head of a request, from its first byte to its last.
    case head
    /// The next part of the body of a request. Each part renews it.
    case body
    /// The next part of the output that the peer must take. Each part renews it.
    case output
    /// The next request of a client.
    case idle
    /// The next use of a connection to a server.
    case pooled
    /// The end of the peer's input, after ours.
    case draining
    /// The next part of the input of a peer that is sent nothing more. Each part renews it.
    case halfClosed

    var limit: Duration {
      switch self {
      case .connecting: .seconds(5)
      case .head: .seconds(10)
      case .body, .output, .halfClosed: .seconds(60)
      case .idle: .seconds(75)
      case .pooled: .seconds(20)
      case .draining: .seconds(2)
      }
    }
  }

  private var times: [Reason: Instant] = [:]

  /// The first of the deadlines.
  var next: Instant? { times.values.min() }

  func has(_ reason: Reason) -> Bool { times[reason] != nil }

  /// Sets a deadline, or renews it.
  mutating func set(_ reason: Reason, at now: Instant) {
    times[reason] = now.advanced(by: reason.limit)
  }

  mutating func clear(_ reason: Reason) {
    times[reason] = nil
  }

  /// The reasons whose deadlines have passed.
  func passed(at now: Instant) -> Set<Reason> {
    Set(times.filter { $0.value <= now }.keys)
  }
}
