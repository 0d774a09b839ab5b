import Support
import TestSupport

@testable import WatchrunSettings

/// Writes project files at random: most values are valid, some are not.
///
/// Names in `after` exist and are no services, and ports occur once: a schema cannot compare values.
struct ProjectFileGenerator {
  private var random: SeededGenerator
  /// The tasks so far that others may depend on.
  private var dependencies: [String] = []
  private var hasInteractiveTask = false
  private var pageCount = 0
  /// How many of a hundred values are chosen from the invalid ones.
  private let invalidShare: Int

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    invalidShare = [0, 1, 2, 4, 8][Int(seed % 5)]
  }

  mutating func file() -> String {
    var members = ["\"tasks\": \(tasks())"]
    for key in keys(of: .project) where key.name != "tasks" && chance(12) {
      members.append(member(key))
    }
    if chance(invalidShare) { members.removeFirst() }
    return object(members)
  }

  private mutating func tasks() -> String {
    if chance(invalidShare) { return pick(["{}", "[]", "null", #"{"a": 1}"#, #"{"a": {}}"#]) }
    let count = Int.random(in: 1...3, using: &random)
    return object(
      (0..<count).map { index in
        let name = name(index)
        let isPage = chance(30)
        let text = isPage ? page() : task(name)
        return "\(JSONWriter.quoted(name)): \(text)"
      })
  }

  private mutating func name(_ index: Int) -> String {
    let names = ["t", "é", "a.b:c-d", "_x$"]
    let name = chance(invalidShare) ? pick(["-a", "a b", "a/b", "a\n"]) : pick(names)
    return name + (name.hasSuffix("\n") ? "" : "\(index)")
  }

  private mutating func task(_ name: String) -> String {
    var chosen = keys(of: .task).filter { _ in chance(14) }
    chosen.removeAll { $0.name == "run" || $0.name == "interactive" && hasInteractiveTask }
    let isService = chosen.contains { ["service", "keepAlive"].contains($0.name) }
    if !isService && !chance(invalidShare) {
      chosen.removeAll { ["port", "listen", "stop", "restartLimit", "backOff"].contains($0.name) }
    }
    if chosen.contains(where: { $0.name == "listen" }) && !chance(invalidShare) {
      chosen.removeAll { $0.name == "port" }
    }
    // A map takes a command with the word that it replaces.
    if !chance(invalidShare) { chosen.removeAll { $0.name == "map" } }
    // The schema cannot say that there is one at most.
    if chosen.contains(where: { $0.name == "interactive" }) { hasInteractiveTask = true }
    if !chance(invalidShare), let run = Setting.key("run", in: .task)?.key { chosen.append(run) }
    let names = chosen.map(\.name)
    let members = chosen.map { member($0) } + unknown()
    if !names.contains("service") && !names.contains("keepAlive") { dependencies.append(name) }
    return object(members)
  }

  private mutating func page() -> String {
    pageCount += 1
    var chosen = keys(of: .page).filter { _ in chance(12) }
    let source = chance(50) ? "serve" : "proxy"
    var rules: [String] = []
    if !chance(invalidShare), let key = Setting.key(source, in: .page)?.key {
      chosen.removeAll { ["serve", "proxy"].contains($0.name) && !chance(invalidShare) }
      if !chosen.contains(key) { chosen.append(key) }
      if source == "serve" && chance(20) && !chosen.contains(where: { $0.name == "proxy" }) {
        rules = [#""proxy": { "/a": 80, "/b%20/c/": "http://a" }"#]
      }
    }
    return object(chosen.map { member($0) } + rules + unknown())
  }

  private mutating func readiness() -> String {
    var chosen = [Setting.key(pick(["port", "url", "line", "run"]), in: .readiness)?.key]
      .compactMap(
        \.self)
    if chance(30) {
      chosen += keys(of: .readiness).filter { ["timeout", "interval"].contains($0.name) }
    }
    if chance(invalidShare) { chosen = keys(of: .readiness).filter { _ in chance(40) } }
    return object(
      chosen.map { key in
        key.kind == .port ? "\"port\": \(value(of: .portOfServer))" : member(key)
      })
  }

  private mutating func unknown() -> [String] {
    chance(invalidShare)
      ? [pick([#""colour": 1"#, #""jobs": 1"#, #""serve": "x", "run": "y""#])] : []
  }
}

// MARK: - Values

extension ProjectFileGenerator {
  private mutating func member(_ key: ProjectKey) -> String {
    let text: String
    switch key.kind {
    case .port: text = value(of: .page(pageCount))
    case .listenAddress where !chance(invalidShare):
      pageCount += 1
      let port = 5000 + pageCount
      text = pick(
        [
          "\(port)", "\"auto\"", "\"\(port)\"", "\"localhost:\(port)\"", "\"10.0.0.1:0\(port)\"",
          "\"[::1]:\(port)\"",
        ])
    case .readiness where !chance(invalidShare): text = readiness()
    case .taskNames: text = taskNames()
    default: text = value(of: .kind(key.kind))
    }
    return "\(JSONWriter.quoted(key.name)): \(text)"
  }

  private enum Wanted {
    case kind(ValueKind)
    case page(Int)
    case portOfServer
  }

  private mutating func taskNames() -> String {
    let wrong = ["1", "null", #"[1]"#, #"[""]"#, "{}"]
    if chance(invalidShare) { return pick(wrong) }
    guard let name = dependencies.randomElement(using: &random) else { return "[]" }
    let quoted = JSONWriter.quoted(name)
    if chance(invalidShare) { return "[\(quoted), \(quoted)]" }
    return pick([quoted, "[\(quoted)]"])
  }

  private mutating func value(of wanted: Wanted) -> String {
    let (valid, invalid) = Self.values(wanted)
    return pick(chance(invalidShare) ? invalid + ["null", "[[]]", "{\"a\": 1}"] : valid)
  }

  private static func values(_ wanted: Wanted) -> (valid: [String], invalid: [String]) {
    let ports = ["0", "65536", "1.5", "-1", "\"80\""]
    switch wanted {
    case .page(let number): return (["\(4000 + number)"], ports)
    case .portOfServer: return (["8080", "1", "65535"], ports)
    case .kind(let kind): return values(of: kind)
    }
  }

  private static func values(of kind: ValueKind) -> (valid: [String], invalid: [String]) {
    switch kind {
    case .boolean: (["true", "false"], ["1", #""yes""#])
    case .count: (["1", "4", "10000", "4.0"], ["0", "10001", "1.5", #""2""#])
    case .port: (["8080"], ["0"])
    case .portOrAuto: (["8080", #""auto""#], ["0", #""free""#, #""80""#])
    case .listenAddress:
      (
        [#""auto""#],
        ["0", #""free""#, #""a:80""#, #""1.2.3:80""#, #""::1:80""#, #""127.0.0.1""#, #""80x""#]
      )
    case .servers:
      (
        server + ["3000", #"{"/": 3000}"#, #"{"/": 3000, "/a/b": "http://a/"}"#],
        // Any name may be that of a task.
        badURLs.filter { $0 != #""a""# } + [
          #""http://a/?b""#, "0", "{}", #"{"/a": 80}"#, #"{"/": 80, "a": 80}"#,
        ]
      )
    case .statuses:
      (["200", "[200, 401]", "100", "599"], ["99", "600", "[]", #""200""#, "[200, 1.5]"])
    case .url:
      (
        server + [#""https://a:8443/x""#] + [#""http://a/?b""#, #""HTTP://[::1]:80/x#y""#],
        Array(badURLs.dropFirst()) + ["80"]
      )
    case .string, .file, .directory, .shellLine:
      ([#""x""#, #""a b\nc""#], [#""""#, "1", #""a\u0000""#])
    case .shell: ([#""bash""#, #""/bin/sh""#], [#""none""#, #""""#, "1"])
    case .command:
      ([#""make test""#, #"["make", "", "x"]"#], [#""""#, "[]", #"["", "x"]"#, #"["x", 1]"#, "1"])
    case .duration: (durations + [#""0""#, #""0.0s""#, #""00""#], badDurations)
    case .positiveDuration: (durations, badDurations + [#""0""#, #""0ms""#, #""0.00h""#])
    case .quietPeriod: (durations + [#""auto""#, #""0""#], badDurations + ["true"])
    case .polling:
      (
        ["true", "false", #""2s""#, #""10ms""#, #""0.05s""#],
        [#""5ms""#, #""0""#, "2", #""9.9ms""#]
      )
    case .signal:
      ([#""TERM""#, #""sigint""#, #""15""#, #""Usr1""#], [#""TREM""#, #""0""#, #""65""#, "15"])
    case .choice(let names):
      (names.map { JSONWriter.quoted($0) }, [#""no""#, "true", "[]"])
    case .choices(let names):
      lists(names.map { JSONWriter.quoted($0) }, invalid: [#""no""#, "1"], extra: ["[]"])
    case .paths, .files: lists([#""src""#, #""a b""#, #""../x""#], invalid: [#""""#, "1"])
    case .hosts:
      lists([#""0.0.0.0""#, #""::1""#, #""my-host""#], invalid: [#""b/c""#, #""""#, "1"])
    case .globs:
      lists(
        globs.map { JSONWriter.quoted($0) }, invalid: badGlobs.map { JSONWriter.quoted($0) } + ["1"]
      )
    case .extensions: lists([#""c""#, #""tar.gz""#, #"".swift""#], invalid: [#""""#, "1"])
    case .variables:
      (
        ["{}", #"{"A": "1", "b c": ""}"#],
        [#"{"A": 1}"#, #"{"": "x"}"#, #"{"A=B": "x"}"#, #"["A=1"]"#, #"{"A": "\u0000"}"#]
      )
    case .headers:
      (
        ["{}", #"{"X-A": "1", "b": "a\tb"}"#],
        [#"{"A": 1}"#, #"{"": "x"}"#, #"{"A b": "x"}"#, #"{"A": "\n"}"#, #"{"Upgrade": "x"}"#]
      )
    case .testMap:
      (
        [#"{"a(.*)": "$1"}"#, #"{"a": ["b", "c"]}"#],
        ["{}", #"{"a": 1}"#, #"{"": "x"}"#, #"{"a": []}"#, #""a""#, #"{"a": ""}"#]
      )
    case .readiness: ([], ["8080", "{}", #"{"port": 80, "line": "x"}"#, #"{"prot": 80}"#])
    case .taskNames, .tasks: (["[]"], ["1"])
    }
  }

  private static let server = [
    #""http://localhost:8080""#, #""http://a""#, #""http://a/b/""#, #""http://127.0.0.1:1#f""#,
  ]
  private static let badURLs = [
    #""https://a""#, #""http://""#, #""http://a:0""#, #""http://a:65536""#, #""http://u@a""#,
    #""http://a b""#, #""a""#, #""http://a:b:c""#, #""http://[::1""#,
  ]
  private static let durations = [
    #""50ms""#, #""1.5s""#, #""2m""#, #"".5h""#, #""3us""#, #""1.min""#,
  ]
  private static let badDurations = [#""soon""#, "5", #""5""#, #""-1s""#, #""1.2.3s""#, #""1 s""#]
  private static let globs = [
    "*.c", "docs/**", "!keep", "/a/b/", "[a-z]*", "[!x]", #"\ x"#, #"a\*"#, "[[:digit:]]x", "**/x",
    "a b", "[]]", "é?",
  ]
  private static let badGlobs = ["a[", "# x", "", "  ", "!", "/", "a//b", #"x\"#, "[[:foo:]]"]

  /// A value, or arrays of them.
  private static func lists(
    _ valid: [String], invalid: [String], extra: [String] = []
  ) -> (valid: [String], invalid: [String]) {
    let first = valid.first ?? ""
    let none = extra.isEmpty ? ["[]"] : []
    return (
      valid + valid.map { "[\($0)]" } + ["[\(valid.joined(separator: ", "))]"] + none,
      invalid + invalid.map { "[\(first), \($0)]" } + extra
    )
  }
}

// MARK: - Chance

extension ProjectFileGenerator {
  private func keys(of scope: ProjectKey.Scope) -> [ProjectKey] {
    ProjectKey.all.filter { $0.scopes.contains(scope) }
  }

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
