import Support
import TestSupport

@testable import WatchrunSettings

/// Writes project files at random, of valid values. Some keys exclude each other, so that some files are not valid.
struct ProjectFileGenerator {
  private var random: SeededGenerator
  /// The tasks so far that others may depend on.
  private var dependencies: [String] = []
  private var portCount = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  mutating func file() -> String {
    var members = ["\"tasks\": \(tasks())"]
    for key in ProjectKey.all(in: .project) where key.name != "tasks" && chance(12) {
      members.append(member(key))
    }
    return object(members)
  }

  private mutating func tasks() -> String {
    let count = Int.random(in: 1...3, using: &random)
    return object(
      (0..<count).map { index in
        let name = pick(["t", "é", "a.b:c-d", "_x$"]) + "\(index)"
        return "\(JSONWriter.quoted(name)): \(chance(30) ? page() : task(name))"
      })
  }

  private mutating func task(_ name: String) -> String {
    var chosen = ProjectKey.all(in: .task).filter { _ in chance(14) }.filter {
      !["run", "map"].contains($0.name)
    }
    let isService = chosen.contains { ["service", "keepAlive"].contains($0.name) }
    if !isService {
      chosen.removeAll { ["port", "listen", "stop", "restartLimit", "backOff"].contains($0.name) }
      dependencies.append(name)
    }
    return object(["\"run\": \(pick(values(of: .command)))"] + chosen.map { member($0) })
  }

  private mutating func page() -> String {
    let sources = ["serve", "proxy"].shuffled(using: &random)
    let chosen = ProjectKey.all(in: .page).filter { key in
      key.name == sources[0] || key.name != sources[1] && chance(12)
    }
    return object(chosen.map { member($0) })
  }

  private mutating func readiness() -> String {
    let condition = pick(["port", "url", "line", "run"])
    let chosen = ProjectKey.all(in: .readiness).filter { key in
      key.name == condition || ["timeout", "interval"].contains(key.name) && chance(30)
    }
    return object(chosen.map { member($0) })
  }

  private mutating func member(_ key: ProjectKey) -> String {
    "\(JSONWriter.quoted(key.name)): \(pick(values(of: key.kind)))"
  }
}

// MARK: - Values

extension ProjectFileGenerator {
  private mutating func values(of kind: ValueKind) -> [String] {
    portCount += 1
    let port = 4000 + portCount
    switch kind {
    case .boolean: return ["true", "false"]
    case .port: return ["\(port)"]
    case .portOrAuto: return ["\(port)", #""auto""#]
    case .listenAddress:
      return [
        "\(port)", #""auto""#, "\"localhost:\(port)\"", "\"10.0.0.1:0\(port)\"",
        "\"[::1]:\(port)\"",
      ]
    case .servers:
      return Self.server + ["3000", #"{"/": 3000}"#, #"{"/": 3000, "/a/b": "http://a/"}"#]
    case .statuses: return ["200", "[200, 401]", "100", "599"]
    case .url: return Self.server + [#""https://a:8443/x""#, #""http://a/?b""#]
    case .command: return [#""make test""#, #"["make", "", "x"]"#]
    case .duration: return [#""50ms""#, #""1.5s""#, #""2m""#, #"".5h""#, #""3us""#, #""1.min""#]
    case .quietPeriod: return [#""auto""#, #""0""#, #""50ms""#]
    case .polling: return ["true", "false", #""2s""#, #""10ms""#]
    case .shell: return [#""bash""#, #""/bin/sh""#]
    case .signal: return [#""TERM""#, #""sigint""#, #""15""#, #""Usr1""#]
    case .hosts: return Self.lists([#""0.0.0.0""#, #""::1""#, #""my-host""#])
    case .globs: return Self.lists([#""*.c""#, #""docs/**""#, #""!keep""#, #""/a/b/""#])
    case .extensions: return Self.lists([#""c""#, #""tar.gz""#, #"".swift""#])
    case .taskNames: return dependencies.last.map { Self.lists([JSONWriter.quoted($0)]) } ?? ["[]"]
    case .variables: return ["{}", #"{"A": "1", "b c": ""}"#]
    case .headers: return ["{}", #"{"X-A": "1", "b": "a\tb"}"#]
    case .testMap: return [#"{"a(.*)": "$1"}"#, #"{"a": ["b", "c"]}"#]
    case .readiness: return [readiness()]
    case .paths, .files: return Self.lists([#""src""#, #""a b""#, #""../x""#])
    case .choice(kind.words): return kind.words.map { JSONWriter.quoted($0) }
    case .choices(kind.words): return Self.lists(kind.words.map { JSONWriter.quoted($0) })
    default: return kind.schema.contains("integer") ? ["1", "4", "4.0"] : [#""x""#, #""a b\nc""#]
    }
  }

  private static let server = [
    #""http://localhost:8080""#, #""http://a""#, #""http://a/b/""#, #""http://127.0.0.1:1#f""#,
  ]

  /// A value, or arrays of them.
  private static func lists(_ valid: [String]) -> [String] {
    valid + valid.map { "[\($0)]" } + ["[\(valid.joined(separator: ", "))]"]
  }
}

// MARK: - Chance

extension ProjectFileGenerator {
  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func pick(_ values: [String]) -> String {
    values.randomElement(using: &random) ?? "null"
  }
}

private func object(_ members: [String]) -> String {
  "{ \(members.joined(separator: ", ")) }"
}
