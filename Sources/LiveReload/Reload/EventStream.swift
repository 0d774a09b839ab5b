/// A client that receives server-sent events.
final class EventStream: Exchange {
  /// The most bytes that a client has still to receive when there are more messages. Otherwise it is disconnected.
  private static let mostPending = 1024 * 1024

  let connection: ServerConnection
  /// Whether it also receives changes of the status.
  let wantsStatus: Bool

  init(on connection: ServerConnection, wantsStatus: Bool) {
    self.connection = connection
    self.wantsStatus = wantsStatus
    let fields: HTTPFields = HTTPFields([
      "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    ])
    // Not in chunks of its own, so that all clients share the bytes of a message.
    connection.begin(200, fields, length: nil, endsWithConnection: true)
    connection.write(Array("retry: 300\n\n".utf8))
  }

  func send(_ message: [UInt8]) { send(all: [message]) }

  /// Sends messages, which a client may take as slowly as it likes.
  func send(all messages: [[UInt8]]) {
    if connection.stream.pendingCount > Self.mostPending { return connection.stream.close() }
    for message in messages { connection.write(message) }
  }

  func clientEnded() {
    connection.stream.close()
  }
}
