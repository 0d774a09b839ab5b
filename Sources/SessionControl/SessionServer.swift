import Dispatch
import Support
import SystemCalls

/// A session that can be asked. All methods but `flush` are called on the queue of the server.
public protocol ServedSession: AnyObject, Sendable {
  /// Calls `done` once, on any queue, when every change made before this call has been delivered.
  func flush(then done: @escaping @Sendable () -> Void)
  /// Whether these tasks, all if there are none, are at rest.
  func condition(of tasks: [String]) -> SessionCondition
  /// The present picture of the tasks that are asked for, which are in this condition, with as many lines of output
  /// as are wanted: of each task that has failed, and for `logs` of each.
  func answer(to request: SessionRequest, in condition: SessionCondition) -> SessionAnswer
  /// Why tasks cannot be asked for, such as that they do not exist; `nil` if they can.
  func refusal(of tasks: [String]) -> String?
  /// Performs an order, or refuses it for the returned reason. A `wait` asks for tasks that may exist only when it
  /// is answered.
  func perform(_ request: SessionRequest) -> String?
}

/// The condition of the tasks of a session.
public struct SessionCondition: Hashable, Sendable {
  /// Whether a run is under way, or one is due.
  public var isBusy = false
  /// How long to wait for something that may still happen.
  public var settlesAfter: Duration?
  /// The tasks whose results are without changes that lead to no run by themselves now: their runs are delayed
  /// for longer than that, as each run before changed the same files, or the changes were ignored.
  public var behind: [String] = []
  /// Whether the session is paused or held, so that it does not come to rest by itself.
  public var isBlocked = false

  /// Creates the condition of a session at rest.
  public init() {}
}

/// Serves a session to clients of the same user, at a Unix socket. While no client asks, it is one descriptor, and
/// one file in the directory of sockets.
///
/// Requests and answers are lines of JSON. A client sends one request; the session answers and closes the
/// connection.
public final class SessionServer: Sendable {
  struct Client {
    let connection: SessionConnection
    /// What it waits for, or follows.
    var request: SessionRequest?
    var isFollower = false
  }

  struct State {
    weak var session: (any ServedSession)?
    var listener: (any DispatchSourceRead)?
    var clients: [Int: Client] = [:]
    var lastNumber = 0
    var questions = Questions()
    var timer: (any ScheduledWork)?
    var isReviewPlanned = false
  }

  /// More clients are refused.
  static let mostClients = 400

  /// The directories in which sockets may be. What changes there should not cause a run.
  public static var socketDirectories: [Path] { SessionDirectory.candidates().map(\.path) }

  let state: Confined<State>
  private let queue: DispatchQueue
  private let scheduler: any Scheduler
  private let socket: Path

  /// Listens for a session, until `stop`, so that clients find it. They are answered from `start` on. The session
  /// is not retained.
  ///
  /// - Parameters:
  ///   - session: What is served.
  ///   - directory: The directory of the session, absolute and without symbolic links.
  ///   - queue: A serial queue, on which the session is used.
  public convenience init(
    _ session: any ServedSession, in directory: Path, on queue: DispatchQueue
  ) throws(SessionError) {
    try self.init(
      session, in: directory, on: queue, DispatchScheduler(queue: queue),
      try SessionDirectory.make())
  }

  init(
    _ session: any ServedSession, in directory: Path, on queue: DispatchQueue,
    _ scheduler: any Scheduler, _ sockets: SessionDirectory
  ) throws(SessionError) {
    (self.queue, self.scheduler) = (queue, scheduler)
    let (listener, socket) = try sockets.listen(for: directory)
    self.socket = socket
    let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: queue)
    state = Confined(State(session: session, listener: source), to: queue)
    source.setEventHandler { @Sendable [weak self] in self?.accept(listener) }
    source.setCancelHandler { @Sendable in _ = Descriptor(owning: listener) }
  }

  /// Begins to answer, after the work that the queue has now.
  public func start() {
    queue.async { [self] in state.access { $0.listener }?.activate() }
  }

  /// Removes the socket, so that no client finds it. May be called on any thread, also at the end of the process.
  public func stop() {
    removeFile(socket)
    queue.async { [self] in
      let (listener, clients) = state.access { state in
        defer { (state.listener, state.clients) = (nil, [:]) }
        state.timer?.cancel()
        return (state.listener, state.clients.values)
      }
      listener?.cancel()
      // An inactive source must not be released.
      listener?.activate()
      for client in clients { client.connection.close() }
    }
  }

  /// Must be called on the queue when the condition of the session may have changed.
  public func changed() {
    let isNeeded = state.access { state in
      if state.questions.isEmpty || state.isReviewPlanned { return false }
      state.isReviewPlanned = true
      return true
    }
    // The step that has changed it may go on.
    if isNeeded { queue.async { [weak self] in self?.review() } }
  }

  // MARK: - Connections

  private func accept(_ listener: Int32) {
    do throws(SystemError) {
      while let socket = try LocalSocket.accept(from: listener) { add(Descriptor(owning: socket)) }
    } catch {
      // Without a free descriptor, the client that waits would wake this process again and again.
      guard let source = state.access({ $0.listener }) else { return }
      source.suspend()
      // Dispatch documents that sources may be used on any thread, but their types are not Sendable.
      nonisolated(unsafe) let suspended = source
      _ = scheduler.schedule(at: scheduler.now.advanced(by: .milliseconds(100))) {
        suspended.resume()
      }
    }
  }

  private func add(_ socket: consuming Descriptor) {
    let number = state.access { state -> Int? in
      if state.clients.count >= Self.mostClients { return nil }
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return }
    let connection = SessionConnection(socket, on: queue) { [weak self] event in
      switch event {
      case .line(let line): self?.handle(line, from: number)
      case .closed: self?.drop(number)
      }
    }
    state.access { $0.clients[number] = Client(connection: connection) }
    connection.begin()
  }

  private func drop(_ number: Int) {
    state.access { state in
      state.clients[number] = nil
      state.questions.drop(number)
    }
  }

  private func send(_ json: [UInt8], to number: Int, isLast: Bool = true) {
    guard let client = state.access({ $0.clients[number] }) else { return }
    client.connection.send(json + [UInt8(ascii: "\n")], isLast: isLast)
  }

  private func refuse(_ reason: String, to number: Int) {
    let json = JSONWriter.object { writer in
      writer.member("version", SessionRequest.version)
      writer.member("error", reason)
    }
    send(json, to: number)
  }

  // MARK: - Requests

  private func handle(_ line: [UInt8], from number: Int) {
    guard let session = state.access({ $0.session }) else { return }
    do throws(SessionError) {
      let request = try SessionRequest(parsing: line)
      if request.verb == .wait || session.refusal(of: request.tasks) == nil {
        return handle(request, from: number)
      }
      // The tasks may have just been added.
      session.flush { [weak self, queue] in
        queue.async { [weak self] in self?.handle(request, from: number) }
      }
    } catch {
      refuse(error.description, to: number)
    }
  }

  private func handle(_ request: SessionRequest, from number: Int) {
    guard let session = state.access({ $0.session }) else { return }
    if let reason = session.perform(request) { return refuse(reason, to: number) }
    guard request.verb == .wait else {
      let follows = request.follows && (request.verb == .status || request.verb == .logs)
      if follows {
        state.access { state in
          state.clients[number]?.request = request
          state.clients[number]?.isFollower = true
        }
      }
      return send(
        session.answer(to: request, in: session.condition(of: request.tasks)).json, to: number,
        isLast: !follows)
    }
    ask(request, number)
  }

  /// The time that a flush may take, so that a question with no time at all is answered.
  private static let leastTime = Duration.milliseconds(100)

  private func ask(_ request: SessionRequest, _ number: Int) {
    let deadline = request.time.map { scheduler.now.advanced(by: max($0, Self.leastTime)) }
    state.access { state in
      state.questions.ask(number, about: request.tasks, until: deadline)
      state.clients[number]?.request = request
    }
    state.access({ $0.session })?.flush { [weak self, queue] in
      queue.async { [weak self] in
        self?.state.access { $0.questions.flushed(number) }
        self?.review()
      }
    }
    review()
  }

  private func review() {
    let now = scheduler.now
    guard let session = state.access({ $0.session }) else { return }
    let subjects = state.access { $0.questions.subjects }
    let conditions = Dictionary(
      uniqueKeysWithValues: subjects.map { ($0, session.condition(of: $0)) })
    let review = state.access { state in
      state.isReviewPlanned = false
      return state.questions.review(at: now, conditions)
    }
    for question in review.answers {
      guard let request = state.access({ $0.clients[question.number]?.request }) else { continue }
      if let reason = session.refusal(of: request.tasks) {
        refuse(reason, to: question.number)
        continue
      }
      // The condition that ends the wait: a second look could find a server busy for a moment.
      let condition = conditions[request.tasks] ?? session.condition(of: request.tasks)
      var answer = session.answer(to: request, in: condition)
      answer.isLate = question.isLate
      send(answer.json, to: question.number)
    }
    planReview(at: review.next)
    if !review.due.isEmpty {
      _ = session.perform(SessionRequest(.run, tasks: review.due.sorted()))
      // The session may receive it in a later step.
      queue.async { [weak self] in
        self?.state.access { $0.questions.requestsAreReceived() }
        self?.review()
      }
    }
  }

  private func planReview(at time: Instant?) {
    let timer = time.map { time in
      scheduler.schedule(at: time) { [weak self] in self?.review() }
    }
    state.access { state in
      state.timer?.cancel()
      state.timer = timer
    }
  }
}
