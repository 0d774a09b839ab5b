/// The reasons for which a stream is closed after a time. Each belongs to a state, which sets the deadline when it is
/// entered and clears it when it is left.
enum StreamDeadline {
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
