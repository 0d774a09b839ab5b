import Dispatch
import Support
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import SessionControl

/// A server and its clients, over real sockets.
struct SessionServerTests {
  /// A session whose condition is set by the test.
  private final class FakeSession: ServedSession {
    let queue = DispatchQueue(label: "test.session")
    let state = Mutex(
      (condition: SessionCondition(), looks: 0, busyLook: 0, flushes: 0, output: [String]()))
    /// The tasks that cannot be asked for, before and after a flush.
    let unknown = Mutex((before: Set(["none"]), after: Set(["none"])))

    func flush(then done: @escaping @Sendable () -> Void) {
      state.withLock { $0.flushes += 1 }
      unknown.withLock { $0.before = $0.after }
      // Not on a global queue, whose threads other tests may block.
      DispatchQueue(label: "test.flush").async { done() }
    }

    func condition(of tasks: [String]) -> SessionCondition {
      state.withLock { state in
        state.looks += 1
        if state.looks == state.busyLook { state.condition.isBusy = true }
        return state.condition
      }
    }

    func answer(to request: SessionRequest, in condition: SessionCondition) -> SessionAnswer {
      let tasks = request.tasks
      var answer = SessionAnswer(
        directory: "/p", command: "make", process: 1, state: condition.isBusy ? .busy : .rest)
      answer.tasks = tasks.map { SessionAnswer.Task($0) }
      if !tasks.isEmpty { answer.tasks[0].output = state.withLock { $0.output } }
      return answer
    }

    func refusal(of tasks: [String]) -> String? {
      let unknown = unknown.withLock { $0.before }
      return tasks.first(where: unknown.contains).map { "no task '\($0)'" }
    }

    func perform(_ request: SessionRequest) -> String? {
      request.verb == .wait ? nil : refusal(of: request.tasks)
    }
  }

  private let base: TemporaryDirectory
  private let sockets: SessionDirectory
  private let session = FakeSession()
  private let server: SessionServer

  init() throws {
    base = try TemporaryDirectory()
    sockets = try SessionDirectory.make(among: [SessionDirectory(path: base["watchrun"])])
    server = try SessionServer(
      session, in: "/p", on: session.queue, DispatchScheduler(queue: session.queue), sockets)
    server.start()
  }

  private func client() throws -> SessionClient {
    var client = try SessionClient(in: "/p", [sockets])
    // A busy machine takes its time for long answers.
    client.patience = .seconds(60)
    return client
  }

  private func ask(_ request: SessionRequest) async throws -> [SessionAnswer] {
    let client = try client()
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "test.client").async {
        continuation.resume(with: Result { try client.ask(request).map(\.answer) })
      }
    }
  }

  /// Sends bytes, and returns what comes back until the connection is closed.
  private func send(_ bytes: [UInt8]) throws -> String {
    let socket = try LocalSocket.connect(to: try #require(try sockets.sockets(of: "/p").first))
    try writeAll(bytes, to: socket.number)
    var answer: [UInt8] = []
    while try LocalSocket.wait(for: socket.number, atMost: .seconds(60)) {
      guard case .bytes(let more) = readAvailable(socket.number, atMost: 4096) else { break }
      answer += more
    }
    return String(decoding: answer, as: UTF8.self)
  }

  @Test func `a status is answered at once, and a wait after a flush`() async throws {
    #expect(try await ask(SessionRequest(.status)).map(\.command) == ["make"])
    #expect(session.state.withLock { $0.flushes } == 0)
    #expect(try await ask(SessionRequest(.wait, tasks: ["a"])).first?.tasks.first?.name == "a")
    #expect(session.state.withLock { $0.flushes } == 1)
    server.stop()
  }

  @Test func `a client that asks before the server starts is answered from then on`() async throws {
    let early = try SessionServer(
      session, in: "/early", on: session.queue, DispatchScheduler(queue: session.queue), sockets)
    let socket = try LocalSocket.connect(
      to: try #require(try sockets.sockets(of: "/early").first))
    try writeAll(SessionRequest(.status).json, to: socket.number)
    session.queue.sync {}
    #expect(try !LocalSocket.wait(for: socket.number, atMost: .zero))
    early.start()
    #expect(try LocalSocket.wait(for: socket.number, atMost: .seconds(60)))
    early.stop()
    server.stop()
  }

  @Test func `a server that is stopped before it starts is not found`() throws {
    let early = try SessionServer(
      session, in: "/early", on: session.queue, DispatchScheduler(queue: session.queue), sockets)
    early.stop()
    #expect(try sockets.sockets(of: "/early").isEmpty)
    session.queue.sync {}
    server.stop()
  }

  @Test func `a wait ends when the session comes to rest`() async throws {
    session.state.withLock { $0.condition.isBusy = true }
    async let answers = ask(SessionRequest(.wait))
    #expect(await eventually { session.state.withLock { $0.flushes } == 1 })
    session.queue.sync { server.changed() }
    session.state.withLock { $0.condition.isBusy = false }
    session.queue.sync { server.changed() }
    #expect(try await answers.map(\.isLate) == [false])
    server.stop()
  }

  @Test func `the answer of a wait has the condition that has ended it`() async throws {
    // The looks are at the question, and after its flush.
    session.state.withLock { $0.busyLook = 3 }
    #expect(try await ask(SessionRequest(.wait)).map(\.state) == [.rest])
    server.stop()
  }

  @Test func `a wait ends with its time`() async throws {
    session.state.withLock { $0.condition.isBusy = true }
    var request = SessionRequest(.wait)
    request.time = .milliseconds(20)
    #expect(try await ask(request).map(\.isLate) == [true])
    server.stop()
  }

  @Test func `refusals name their reason`() async throws {
    await #expect(throws: SessionError.refused("no task 'none'")) {
      try await ask(SessionRequest(.status, tasks: ["none"]))
    }
    #expect(try send(Array("{}\n".utf8)).contains("speaks version 1"))
    #expect(try send(Array("GET / HTTP/1.1\r\n\r\n".utf8)).contains("not a JSON object"))
    // Without a line feed, so much is enough.
    #expect(try send([UInt8](repeating: 65, count: 70_000)).contains("not a JSON object"))
    server.stop()
  }

  @Test func `a request that the session would not read is not sent`() async throws {
    let request = SessionRequest(.status, tasks: (0..<30_000).map { "task-\($0)" })
    var client = try client()
    client.patience = .milliseconds(100)
    let path = try #require(try sockets.sockets(of: "/p").first)
    #expect(
      throws: SessionError.refused(
        "the request has too many task names; name fewer, or none for all tasks")
    ) { try client.send(request, to: path) }
    server.stop()
  }

  @Test(arguments: [SessionRequest.Verb.wait, .status, .run])
  func `a task is unknown or known by the changes up to the question`(
    verb: SessionRequest.Verb
  ) async throws {
    session.unknown.withLock { $0 = (["new"], ["gone"]) }
    #expect(try await ask(SessionRequest(verb, tasks: ["new"])).count == 1)
    if verb == .wait {
      session.unknown.withLock { $0.before = [] }
      await #expect(throws: SessionError.refused("no task 'gone'")) {
        try await ask(SessionRequest(.wait, tasks: ["gone"]))
      }
    }
    server.stop()
  }

  @Test func `clients that send nothing, leave, or do not read harm nobody`() async throws {
    session.state.withLock { $0.output = [String(repeating: "x", count: 1_000_000)] }
    let path = try #require(try sockets.sockets(of: "/p").first)
    var open: [Int32] = []
    for index in 0..<200 {
      let socket = try LocalSocket.connect(to: path)
      let tasks = index % 20 == 0 ? ["a"] : []
      if index % 2 == 0 {
        try writeAll(SessionRequest(.wait, tasks: tasks).json, to: socket.number)
      }
      if index % 3 != 0 { open.append(socket.release()) }
    }
    let answer = try await ask(SessionRequest(.wait, tasks: ["a"]))
    #expect(answer.first?.tasks.first?.output.first?.utf8.count == 1_000_000)
    for number in open { _ = Descriptor(owning: number) }
    #expect(await eventually { session.queue.sync { server.state.access { $0.clients.isEmpty } } })
    server.stop()
  }

  @Test func `a long answer arrives as a whole`() async throws {
    session.state.withLock { $0.output = [String(repeating: "x", count: 9_000_000)] }
    let answer = try await ask(SessionRequest(.logs, tasks: ["a"]))
    #expect(answer.first?.tasks.first?.output.first?.utf8.count == 9_000_000)
    server.stop()
  }

  @Test func `a follower that reads slowly gets a long answer and what follows`() async throws {
    session.state.withLock { $0.output = [String(repeating: "x", count: 12_000_000)] }
    var request = SessionRequest(.logs, tasks: ["a"])
    request.follows = true
    let socket = try LocalSocket.connect(to: try #require(try sockets.sockets(of: "/p").first))
    try writeAll(request.json, to: socket.number)
    #expect(await eventually { session.queue.sync { server.isFollowed } })
    session.queue.sync { server.emit(SessionEvent(.output, task: "a", "the end")) }
    var (count, last) = (0, [UInt8]())
    while !String(decoding: last, as: UTF8.self).contains("the end"),
      try LocalSocket.wait(for: socket.number, atMost: .seconds(60)),
      case .bytes(let more) = readAvailable(socket.number, atMost: 1 << 20)
    {
      (count, last) = (count + more.count, last.suffix(20) + more)
    }
    #expect(count > 12_000_000)
    #expect(String(decoding: last, as: UTF8.self).contains("the end"))
    server.stop()
  }

  @Test func `of two sessions that are followed, one may refuse`() async throws {
    let others = try SessionDirectory.make(among: [SessionDirectory(path: base["others"])])
    let other = FakeSession()
    let second = try SessionServer(
      other, in: "/p", on: other.queue, DispatchScheduler(queue: other.queue), others)
    second.start()
    other.unknown.withLock { $0 = ([], []) }
    func follow(_ task: String) async throws -> Int {
      let client = try SessionClient(in: "/p", [sockets, others])
      let lines = Log<Bool>()
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        DispatchQueue(label: "test.client").async {
          continuation.resume(
            with: Result {
              try client.follow(SessionRequest(.logs, tasks: [task])) { _, _ in
                lines.note(true)
                return true
              }
            })
        }
        DispatchQueue(label: "test.end").async { [server] in
          while lines.entries.isEmpty && task == "none" { usleep(1000) }
          server.stop()
          second.stop()
        }
      }
      return lines.entries.count
    }
    #expect(try await follow("none") == 1)
  }

  @Test func `a session that closes connections at once is an error, and no SIGPIPE`() throws {
    let listener = try LocalSocket.listen(at: base["closing"])
    let isOver = Mutex(false)
    let number = listener.number
    let ended = DispatchSemaphore(value: 0)
    DispatchQueue(label: "test.closing").async {
      while !isOver.withLock({ $0 }) {
        if let socket = try? LocalSocket.accept(from: number) { _ = Descriptor(owning: socket) }
      }
      ended.signal()
    }
    let client = try client()
    for _ in 1...2000 {
      do throws(SessionError) {
        _ = Descriptor(owning: try client.send(SessionRequest(.status), to: base["closing"]))
      } catch {
        guard case .lost = error else { throw error }
      }
    }
    isOver.withLock { $0 = true }
    ended.wait()
    server.stop()
  }

  @Test func `a session that has ended is not found`() async throws {
    server.stop()
    #expect(throws: SessionError.noSession("/p")) { try client() }
  }
}
