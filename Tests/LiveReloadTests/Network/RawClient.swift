import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// A server with pages, with its reports.
final class ServedPages: Sendable {
  let directory: TemporaryDirectory
  let server: PageServer

  init() throws {
    directory = try TemporaryDirectory()
    let reports = Log<PageServer.Report>()
    let opened = Log<String>()
    server = PageServer(directory: directory.path) {
      reports.note($0)
    } openEditor: {
      opened.note("\($0):\($1):\($2 ?? 0)")
      return $0.extensionName == "md" ? "no editor is set; set one" : nil
    }
    (log, self.opened) = (reports, opened)
  }

  let log: Log<PageServer.Report>
  /// The source locations at which the editor was opened.
  let opened: Log<String>

  deinit {
    server.stop()
  }

  /// Serves a page, and returns its port.
  func open(_ page: Page) throws -> UInt16 {
    try server.open(page)
    let urls = log.entries.compactMap { report -> String? in
      if case .serving(page.name, let urls) = report { urls.first } else { nil }
    }
    let url = try #require(urls.last)
    return try #require(UInt16(url.split(separator: ":")[2].dropLast()))
  }

  /// Serves the directory `site`.
  func openSite(_ change: (inout Page) -> Void = { _ in }) throws -> UInt16 {
    try directory.makeDirectories("site")
    var page = Page(name: "site", source: .directory(directory["site"]))
    page.watched = [directory["site"]]
    change(&page)
    return try open(page)
  }
}

/// A client that sends raw bytes.
struct RawClient: ~Copyable {
  private let socket: Descriptor

  init(port: UInt16) throws {
    self.init(try Socket.connect(to: "127.0.0.1", port: port))
  }

  init(_ socket: consuming Descriptor) {
    self.socket = socket
  }

  /// Sends bytes until the server receives no more.
  func send(_ bytes: [UInt8]) async -> Bool {
    var rest = bytes[...]
    for _ in 0..<5000 {
      if rest.isEmpty { return true }
      switch rest.withUnsafeBytes({ Socket.send($0, to: socket.number) }) {
      case .count(let count): rest = rest.dropFirst(count)
      case .nothing: try? await Task.sleep(for: .milliseconds(2))
      case .failed:
        if Socket.error(of: socket.number) != nil { return false }
        // The connection is not established yet.
        try? await Task.sleep(for: .milliseconds(2))
      }
    }
    return rest.isEmpty
  }

  /// Whether the other side has closed the connection, and sent nothing more.
  var isEnded: Bool {
    withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
      Socket.receive(into: $0, from: socket.number) == 0
    }
  }

  /// Closes the sending side.
  func endSending() {
    Socket.shutDownWriting(socket.number)
  }

  func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

  /// Receives until `isEnough`, or until the server closes.
  func receive(
    until isEnough: (String) -> Bool = { _ in false }
  ) async -> (text: String, isClosed: Bool) {
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    defer { buffer.deallocate() }
    // Counts attempts instead of time, because other tests may delay this one.
    for _ in 0..<10_000 {
      if let count = Socket.receive(into: buffer, from: socket.number) {
        if count == 0 { return (String(decoding: bytes, as: UTF8.self), true) }
        bytes += buffer[..<count]
        let text = String(decoding: bytes, as: UTF8.self)
        if isEnough(text) { return (text, false) }
      } else {
        try? await Task.sleep(for: .milliseconds(2))
      }
    }
    return (String(decoding: bytes, as: UTF8.self), false)
  }

  /// Sends a request on a connection of its own, and receives the response.
  static func request(
    _ port: UInt16, _ target: String, method: String = "GET", host: String? = nil,
    _ fields: [String] = []
  ) async throws -> Response {
    let client = try RawClient(port: port)
    let lines =
      ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "localhost:\(port)")", "Connection: close"]
      + fields
    _ = await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    let (text, isClosed) = await client.receive()
    #expect(isClosed, "the response ends")
    return Response(text)
  }
}

extension Descriptor {
  /// The next connection to a listening socket.
  func accept() async throws -> Descriptor {
    while true {
      if let (socket, _) = try Socket.accept(from: number) { return Descriptor(owning: socket) }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

struct Response {
  let status: Int
  let head: String
  let body: String

  init(_ text: String) {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    head = String(parts.first ?? "")
    body = parts.count > 1 ? String(parts[1]) : ""
    status = Int(head.dropFirst(9).prefix(3)) ?? 0
  }

  func field(_ name: String) -> String? {
    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
      .map { String($0.dropFirst(name.count + 2)) }
  }
}
