import Support
import TestSupport
import Testing

@testable import SessionControl

/// The lines that clients send.
struct SessionRequestTests {
  private func refusal(_ text: String) -> String? {
    do throws(SessionError) {
      _ = try SessionRequest(parsing: Array(text.utf8))
      return nil
    } catch {
      return error.description
    }
  }

  private static let full: SessionRequest = {
    var request = SessionRequest(.hold, tasks: ["a", "ü\"\\\n"])
    (request.time, request.lines) = (.milliseconds(1500), 7)
    (request.follows, request.owner) = (true, 4711)
    return request
  }()

  @Test func `a request is read as it was written`() throws {
    for request in [SessionRequest(.wait), Self.full] {
      let line = request.json
      #expect(line.last == UInt8(ascii: "\n"))
      #expect(try SessionRequest(parsing: line.dropLast()) == request)
    }
  }

  @Test func `all tasks of a request are read`() throws {
    let request = SessionRequest(.wait, tasks: (1...3000).map { "t\($0)" })
    #expect(try SessionRequest(parsing: request.json.dropLast()).tasks.count == 3000)
  }

  @Test func `another version is named`() {
    let reason = refusal(#"{"version":2,"ask":"wait"}"#)
    #expect(reason?.hasPrefix("this session speaks version 1 of the protocol") == true)
    #expect(refusal(#"{"ask":"wait"}"#)?.hasPrefix("this session speaks version 1") == true)
  }

  @Test func `an unknown word is answered by the list`() {
    #expect(
      refusal(#"{"version":1,"ask":"explode"}"#)?.hasPrefix("unknown request; known: wait, status,")
        == true)
  }

  @Test(arguments: ["", "wait", "[1]", "{", #""wait""#, "GET / HTTP/1.1", "\u{0}"])
  func `anything else is refused`(text: String) {
    #expect(refusal(text) == "the request is not a JSON object in one line")
  }

  @Test func `numbers have limits`() throws {
    let line = #"{"version":1,"ask":"wait","timeMs":-5,"lines":1e12,"owner":1e300,"more":[1]}"#
    let request = try SessionRequest(parsing: Array(line.utf8))
    #expect(request.time == .zero)
    #expect(request.lines == 100_000)
    #expect(request.owner == 0)
    let long = SessionRequest(.wait, tasks: [String(repeating: "x", count: 70_000)])
    #expect(refusal(String(decoding: long.json, as: UTF8.self)) != nil)
  }

  @Test func `no line is a trap`() {
    var generator = SeededGenerator(seed: 38)
    for _ in 0..<Effort.count(50_000, quick: 4_000) {
      let line = generator.mutated(json: Self.full.json)
      if let request = try? SessionRequest(parsing: line) {
        #expect(request.lines >= 0 && request.time ?? .zero >= .zero)
      }
    }
  }
}

/// The answers of sessions.
struct SessionAnswerTests {
  static let full: SessionAnswer = {
    var task = SessionAnswer.Task("test")
    (task.command, task.state, task.status) = ("make test", "failed", 2)
    (task.startedAt, task.milliseconds, task.isService) = (1_700_000_000_000, 1234, true)
    task.isTimedOut = true
    task.output = ["a \"b\"", "\u{1B}[31mred"]
    task.diagnostics = [
      .init(.error, "no \"x\"", path: "/p/a.c", line: 3, column: 5),
      .init(.warning, "all of it"),
    ]
    var answer = SessionAnswer(directory: "/p", command: "make test", process: 12, state: .busy)
    answer.problem = "1:2: no"
    (answer.isLate, answer.tasks) = (true, [task, SessionAnswer.Task("lint")])
    answer.pending = [.init(task: "lint", cause: "delay", text: "later", changes: ["a.c"])]
    return answer
  }()

  @Test func `an answer is read as it was written`() throws {
    let value = try JSONValue(parsing: Self.full.json)
    #expect(SessionAnswer(value) == Self.full)
    #expect(value["green"]?.bool == false)
  }

  @Test func `an answer follows its schema`() throws {
    let schema = try SchemaEvaluator(documented: "session.schema.json")
    #expect(try schema.accepts(text: String(decoding: Self.full.json, as: UTF8.self)))
  }

  @Test(arguments: [
    ("succeeded", false), ("failed", true), ("skipped", true), ("stopped", true),
    ("ready", false), ("running", false),
  ])
  func `a task that failed, was skipped or was stopped is red`(state: String, isRed: Bool) {
    var answer = SessionAnswer(directory: "/p", command: "", process: 1, state: .rest)
    answer.tasks = [SessionAnswer.Task("a")]
    answer.tasks[0].state = state
    #expect((answer.isGreen, answer.isRed) == (!isRed, isRed))
  }

  @Test func `an answer is neither green nor red while no task has run`() {
    var answer = SessionAnswer(directory: "/p", command: "", process: 1, state: .rest)
    answer.tasks = [SessionAnswer.Task("a"), SessionAnswer.Task("b")]
    #expect((answer.isGreen, answer.isRed) == (false, false))
    answer.tasks[0].state = "succeeded"
    #expect((answer.isGreen, answer.isRed) == (true, false))
    answer.tasks = []
    #expect((answer.isGreen, answer.isRed) == (true, false), "a session of pages only")
  }

  @Test func `a diagnostic of an unknown severity is left out, and messages are printable`() throws
  {
    let text = #"""
      {"state":"rest","tasks":[{"name":"a","diagnostics":[
        {"severity":"hint","message":"x"},{"severity":"note","message":"\u001b[1m"}]}]}
      """#
    let answer = SessionAnswer(try JSONValue(parsing: Array(text.utf8)))
    #expect(answer?.tasks.first?.diagnostics == [.init(.note, #"\u{1B}[1m"#)])
  }

  @Test func `no answer is a trap`() {
    var generator = SeededGenerator(seed: 39)
    for _ in 0..<Effort.count(25_000, quick: 2_000) {
      let line = generator.mutated(json: Self.full.json)
      if let value = try? JSONValue(parsing: line) { _ = SessionAnswer(value) }
    }
  }
}

/// What followers receive.
struct SessionEventTests {
  private static let full: SessionEvent = {
    var event = SessionEvent(.ended, task: "a", "failed")
    (event.status, event.milliseconds, event.isGreen) = (3, 12, false)
    event.changes = ["a.c"]
    return event
  }()

  @Test func `an event is read as it was written, and follows its schema`() throws {
    let schema = try SchemaEvaluator(documented: "session-event.schema.json")
    for event in [Self.full, SessionEvent(.state, "rest")] {
      #expect(SessionEvent(try JSONValue(parsing: event.json)) == event)
      #expect(try schema.accepts(text: String(decoding: event.json, as: UTF8.self)))
    }
  }

  @Test func `events are for the clients that asked for them`() {
    let output = SessionEvent(.output, task: "a", "line")
    let round = SessionEvent(.roundEnded)
    #expect(Self.full.isFor(SessionRequest(.status)))
    #expect(Self.full.isFor(SessionRequest(.status, tasks: ["a"])))
    #expect(!Self.full.isFor(SessionRequest(.status, tasks: ["b"])))
    #expect(round.isFor(SessionRequest(.status, tasks: ["b"])))
    #expect(!output.isFor(SessionRequest(.status)) && output.isFor(SessionRequest(.logs)))
    #expect(!round.isFor(SessionRequest(.logs)))
  }
}
