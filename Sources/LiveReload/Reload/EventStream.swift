/// A client that listens to server-sent events.
final class EventStream: Exchange {
  /// A client that takes nothing is given up, rather than kept in memory.
  private static let mostPending = 1024 * 1024

  let connection: ServerConnection
  /// Whether it is told of every change of the status as well.
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

  /// Sends an object of JSON as an event.
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
