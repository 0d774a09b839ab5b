/// A client that receives server-sent events.
final class EventStream: Exchange {
  /// The most buffered bytes. A client that receives no more is disconnected.
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
  func send(_ json: [UInt8]) {
    connection.write(Array("data: ".utf8) + json + [10, 10])
    if connection.stream.pendingCount > Self.mostPending { connection.stream.close() }
  }

  func clientEnded() {
    connection.stream.close()
  }

  func clientClosed() {
    onClose(self)
  }
}
