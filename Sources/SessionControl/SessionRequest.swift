import Support

/// A question or an order to a session: one line of JSON.
public struct SessionRequest: Hashable, Sendable {
  /// What is asked.
  public enum Verb: String, CaseIterable, Sendable {
    /// Answer when every change made before the request has been dealt with.
    case wait
    /// Answer at once.
    case status
    case run, stop, restart, pause, resume, reload, hold, release
    /// Send the output of the latest runs.
    case logs
  }

  /// The version of the protocol.
  public static let version = 1
  /// Longer requests are refused.
  static let longest = 64 * 1024
  /// The longest time for which a client holds the changes.
  package static let longestHold = Duration.seconds(600)

  /// What is asked.
  public var verb: Verb
  /// The tasks that are meant; all, if there are none.
  public var tasks: [String] = []
  /// How long `wait` waits, or a hold lasts.
  public var time: Duration?
  /// The number of lines of output of each task that has failed.
  public var lines = 100
  /// Whether `status` and `logs` go on with what happens later.
  public var follows = false
  /// Identifies the client that holds the changes, so that its `wait` ends the hold.
  public var owner = 0

  /// Creates a request.
  public init(_ verb: Verb, tasks: [String] = []) {
    self.verb = verb
    self.tasks = tasks
  }

  // MARK: - JSON

  var json: [UInt8] {
    JSONWriter.object { writer in
      writer.member("version", Self.version)
      writer.member("ask", verb.rawValue)
      writer.member("tasks", tasks)
      if let time { writer.member("timeMs", time.milliseconds) }
      writer.member("lines", lines)
      writer.member("follow", follows)
      writer.member("owner", owner)
    } + [UInt8(ascii: "\n")]
  }

  /// Parses a line. Unknown members are ignored.
  init(parsing line: [UInt8]) throws(SessionError) {
    guard line.count <= Self.longest, let value = try? JSONValue(parsing: line),
      case .object = value.content
    else { throw .refused("the request is not a JSON object in one line") }
    guard let version = value["version"]?.int, version == Self.version else {
      throw .refused(
        "this session speaks version \(Self.version) of the protocol; "
          + "use the version of watchrun that started it, or restart it")
    }
    guard let word = value["ask"]?.text, let verb = Verb(rawValue: word) else {
      let known = Verb.allCases.map(\.rawValue).joined(separator: ", ")
      throw .refused("unknown request; known: \(known)")
    }
    self.verb = verb
    tasks = value["tasks"]?.elements.compactMap(\.text) ?? []
    // A fraction, as others may send, is no reason to wait without end.
    time = value["timeMs"]?.number.map { .milliseconds(Int(max(0, $0).rounded(.up))) }
    lines = min(max(0, value["lines"]?.int ?? lines), 100_000)
    follows = value["follow"]?.bool ?? false
    owner = value["owner"]?.int ?? 0
  }
}
