import Support

// What happens in the session, for clients that follow it.

extension SessionServer {
  /// Whether a client follows the session, so that events are worth making. Must be called on the queue.
  public var isFollowed: Bool { state.access { $0.clients.values.contains(where: \.isFollower) } }

  /// Sends an event to the clients that follow the session. Must be called on the queue.
  public func emit(_ event: SessionEvent) {
    let receivers = state.access { state in
      state.clients.values.filter { client in
        client.isFollower && client.request.map(event.isFor) == true
      }
    }
    if receivers.isEmpty { return }
    let line = event.json + [UInt8(ascii: "\n")]
    for client in receivers { client.connection.send(line, isLast: false) }
  }
}

/// Something that happens in a session.
public struct SessionEvent: Hashable, Sendable {
  /// What happens.
  public enum Kind: String, Sendable {
    case roundBegan, started, stopping, ended, roundEnded
    /// The session comes to rest, becomes busy, or is paused, held, resumed or released.
    case state
    /// A task has written a line.
    case output
  }

  /// What happens.
  public var kind: Kind
  /// The task; `nil` for the session as a whole.
  public var task: String?
  /// The reason of a round, the outcome of a run, the state, or the line.
  public var text = ""
  /// The exit status of a run.
  public var status: Int?
  /// How long a run took.
  public var milliseconds: Int?
  /// Whether no task is red, at the end of a round and with a state.
  public var isGreen: Bool?
  /// Some of the paths that began a round.
  public var changes: [String] = []

  /// Creates an event.
  public init(_ kind: Kind, task: String? = nil, _ text: String = "") {
    (self.kind, self.task, self.text) = (kind, task, text)
  }

  /// Whether a client with this request receives the event.
  func isFor(_ request: SessionRequest) -> Bool {
    guard (kind == .output) == (request.verb == .logs) else { return false }
    return request.tasks.isEmpty || task.map(request.tasks.contains) ?? true
  }

  /// An object in one line.
  package var json: [UInt8] {
    JSONWriter.object { writer in
      writer.member("version", SessionRequest.version)
      writer.member("event", kind.rawValue)
      writer.member("task", task)
      writer.member("text", text)
      writer.member("status", status)
      writer.member("durationMs", milliseconds)
      writer.member("green", isGreen)
      writer.member("changes", changes)
    }
  }

  init?(_ value: JSONValue) {
    guard let kind = value["event"]?.text.flatMap(Kind.init) else { return nil }
    self.init(kind, task: value["task"]?.text, value["text"]?.text ?? "")
    (status, milliseconds) = (value["status"]?.int, value["durationMs"]?.int)
    isGreen = value["green"]?.bool
    changes = value["changes"]?.elements.compactMap(\.text) ?? []
  }
}
