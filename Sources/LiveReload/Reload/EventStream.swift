/// A client that receives server-sent events.
final class EventStream: Exchange {
  /// The most bytes that a client has still to receive when there are more messages. Otherwise it is disconnected.
  private static let mostPending = 1024 * 1024

  let connection: ServerConnection
  /// Whether it also receives changes of the status.
  let wantsStatus: Bool
  private let onClose: (EventStream) -> Void

  init(
    on connection: ServerConnection, wantsStatus: Bool, onClose: @escaping (EventStream) -> Void
  ) {
    self.connection = connection
    self.wantsStatus = wantsStatus
    self.onClose = onClose
    let fields: HTTPFields = HTTPFields([
      "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    ])
    connection.begin(200, fields, length: nil)
    connection.write(Array("retry: 300\n\n".utf8))
  }

  /// Sends a JSON object as an event.
  func send(_ json: [UInt8]) { send(all: [json]) }

  /// Sends JSON objects as events, which a client may take as slowly as it likes.
  func send(all messages: [[UInt8]]) {
    if connection.stream.pendingCount > Self.mostPending { return connection.stream.close() }
    for json in messages { connection.write(Array("data: ".utf8) + json + [10, 10]) }
  }

  func clientEnded() {
    connection.stream.close()
  }

  func clientClosed() {
    onClose(self)
  }
}
