import Support

/// A session of the LiveReload protocol 7, which browser extensions and existing snippets use over
/// a WebSocket.
struct LiveReloadProtocol: Sendable {
  /// The client does not follow the protocol, so that the connection is closed.
  struct Violation: Error {}

  /// Whether the client has sent its hello. Nothing may be sent before.
  private(set) var isReady = false

  /// Processes a text message of the client. Returns the answer, if there is one.
  mutating func receive(_ text: [UInt8]) throws(Violation) -> [UInt8]? {
    guard let message = try? JSONValue(parsing: text),
      case .string(let command) = message["command"]?.content
    else { throw Violation() }
    // Newer clients may send unknown commands.
    if isReady && command != "hello" { return nil }
    guard command == "hello", case .array(let protocols) = message["protocols"]?.content else {
      throw Violation()
    }
    let common = Self.protocols.filter { name in
      protocols.contains { $0.content == .string(name) }
    }
    if common.isEmpty { throw Violation() }
    if isReady { return nil }
    isReady = true
    return JSONWriter.object {
      $0.member("command", "hello")
      $0.member("protocols", common)
      $0.member("serverName", "watchrun")
    }
  }

  /// A message that makes the page load `path` again: a stylesheet or an image in place, any other
  /// file by a reload of the page.
  static func reload(path: String) -> [UInt8] {
    JSONWriter.object {
      $0.member("command", "reload")
      $0.member("path", path)
      $0.member("liveCSS", true)
      $0.member("liveImg", true)
    }
  }

  /// The supported protocols. The second one only checks the connection.
  private static let protocols = [
    "http://livereload.com/protocols/official-7",
    "http://livereload.com/protocols/connection-check-1",
  ]
}
