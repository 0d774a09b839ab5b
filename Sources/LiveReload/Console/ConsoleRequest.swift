/// A request with the latest messages of a page's console.
final class ConsoleRequest: Exchange {
  private let connection: ServerConnection
  private let receive: (ConsoleReport) -> Void
  private var body: [UInt8] = []

  /// - Parameter receive: Called with the report when it is complete and valid.
  init(on connection: ServerConnection, receive: @escaping (ConsoleReport) -> Void) {
    self.connection = connection
    self.receive = receive
  }

  func receiveBody(_ bytes: [UInt8]) {
    if body.count + bytes.count <= ConsoleReport.mostBytes {
      body += bytes
    } else {
      connection.respond(.text(413, "The report is too long"))
    }
  }

  func receiveEnd(_ trailers: HTTPFields) {
    guard let report = ConsoleReport(body) else {
      return connection.respond(.text(400, "The report is invalid"))
    }
    connection.respond(HTTPResponse(204))
    receive(report)
  }
}
