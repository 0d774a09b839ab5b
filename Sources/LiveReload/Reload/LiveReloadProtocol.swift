import Support

/// A session of the LiveReload protocol 7, which browser extensions and existing snippets use over
/// a WebSocket.
struct LiveReloadProtocol: Sendable {
  /// The reaction to a message of the client.
  enum Reaction: Hashable, Sendable {
    case ignore
    /// Send this message.
    case send([UInt8])
    /// Close the connection, because the client does not follow the protocol.
    case close
  }

  /// Whether the client has sent its hello. Nothing may be sent before.
  private(set) var isReady = false

  /// Creates a session.
  init() {}

  /// Processes a text message of the client.
  mutating func receive(_ text: [UInt8]) -> Reaction {
    guard let message = try? JSONValue(parsing: text),
      case .string(let command) = message["command"]?.content
    else { return .close }
    // Newer clients may send unknown commands.
    guard command == "hello" else { return isReady ? .ignore : .close }
    guard case .array(let protocols) = message["protocols"]?.content else { return .close }
    let common = Self.protocols.filter { name in
      protocols.contains { $0.content == .string(name) }
    }
    if common.isEmpty { return .close }
    if isReady { return .ignore }
    isReady = true
    return .send(
      JSONWriter.encode {
        $0.object {
          $0.member("command", "hello")
          $0.array("protocols") { for name in common { $0.value(name) } }
          $0.member("serverName", "watchrun")
        }
      })
  }

  /// A message that makes the page load `path` again: a stylesheet or an image in place, any other
  /// file by a reload of the page.
  static func reload(path: String) -> [UInt8] {
    JSONWriter.encode {
      $0.object {
        $0.member("command", "reload")
        $0.member("path", path)
        $0.member("liveCSS", true)
        $0.member("liveImg", true)
      }
    }
  }

  /// The supported protocols. The second one only checks the connection.
  private static let protocols = [
    "http://livereload.com/protocols/official-7",
    "http://livereload.com/protocols/connection-check-1",
  ]
}
