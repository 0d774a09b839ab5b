import Support

/// One client's session of the LiveReload protocol 7, as browser extensions and existing snippets
/// speak it over a WebSocket.
struct LiveReloadProtocol: Sendable {
  /// What follows from a message of the client.
  enum Reaction: Hashable, Sendable {
    case ignore
    /// Send this text.
    case send([UInt8])
    /// The client does not speak the protocol: close the connection.
    case close
  }

  /// Whether the client has introduced itself; nothing may be sent before.
  private(set) var isReady = false

  /// A session with a client that has said nothing.
  init() {}

  /// Takes a text message of the client.
  mutating func receive(_ text: [UInt8]) -> Reaction {
    guard let message = try? JSONValue(parsing: text),
      case .string(let command) = message["command"]?.content
    else { return .close }
    // Commands that are not known may come with newer clients.
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

  /// A message that makes the page load `path` again: a stylesheet or an image in place, anything
  /// else by a reload of the page.
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

  /// Those that are spoken; the second one only asks whether someone is there.
  private static let protocols = [
    "http://livereload.com/protocols/official-7",
    "http://livereload.com/protocols/connection-check-1",
  ]
}
