/// A request with the latest messages of a page's console.
final class ConsoleRequest: Exchange {
  private let connection: ServerConnection
  private let receive: (ConsoleReport) -> Void
  private var body: [UInt8] = []
  private var isAnswered = false

  /// - Parameter receive: Called with the report when it is complete and valid.
  init(on connection: ServerConnection, receive: @escaping (ConsoleReport) -> Void) {
    self.connection = connection
    self.receive = receive
  }

  func receiveBody(_ bytes: [UInt8]) {
    if body.count + bytes.count <= ConsoleReport.mostBytes {
      body += bytes
    } else {
      answer(.text(413, "The report is too long"))
    }
  }

  func receiveEnd(_ trailers: HTTPFields) {
    guard let report = ConsoleReport(body) else {
      return answer(.text(400, "The report is invalid"))
    }
    answer(HTTPResponse(204))
    receive(report)
  }

  private func answer(_ response: HTTPResponse) {
    if isAnswered { return }
    isAnswered = true
    connection.respond(response)
  }
}
