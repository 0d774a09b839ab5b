import SystemCalls

/// A state machine that decides when open pages reload: inputs in, decisions out; no clock, no
/// queue. Times are milliseconds on any clock.
///
/// Changes are collected while a dependency of the page is unsettled or has failed, so that a page
/// reloads once after a round, and never in the middle of it.
///
/// Each message has a revision: the number of a state of the page. A document that was requested in
/// this state or a later one ignores the message. Documents are held while their server starts, so
/// its start begins a revision: what it answers needs no reload when the round has ended.
///
/// A server behind a proxy may write a file, such as a log, whenever a page is loaded. Reloads for such a
/// file are delayed (`ReloadSuspicion`). It may also start again by itself after a save, which reloads
/// the page (`ServerRestarts`).
struct ReloadSession: Sendable {
  enum Message: Hashable, Sendable {
    case reload
    /// Replace stylesheets and images in the page.
    case update([Path])
  }

  enum Decision: Hashable, Sendable {
    case send(Message)
    /// Call `elapsed` after this time. Each reload changes the path, if there is one.
    case wait(milliseconds: Int, loop: Path? = nil)
    /// Request the document of a server again after this time, and call `answered`.
    case ask(ServerAddress, afterMilliseconds: Int)
  }

  /// The revision of a document that is requested now.
  private(set) var revision = 1
  /// Whether documents of this revision show everything that the next message announces.
  private var isRevisionNew = false
  private let dependencies: Set<String>
  private let loadsMayWrite: Bool
  private var changed: [Path] = []
  /// Whether a dependency has run since the last message.
  private var hasRun = false
  /// The dependencies whose last run has failed.
  private(set) var failed: Set<String> = []
  /// The tasks that are queued, running, or services that are not ready.
  private(set) var unsettled: Set<String> = []
  /// The dependencies that keep running because they are the server behind the page. Nothing waits
  /// for their ends.
  private(set) var serving: Set<String> = []
  private var suspicion = ReloadSuspicion()
  private(set) var restarts = ServerRestarts()
  /// The delay of a reload.
  private var delay: Delay?

  private struct Delay {
    enum Reason {
      /// Loads may have written the changed files.
      case suspicion
      /// The server is about to start again by itself.
      case restart
      /// Further processes of the server may start again.
      case processes
    }

    var end: Int
    var reason: Reason
  }

  /// - Parameters:
  ///   - dependencies: The tasks on which the page depends.
  ///   - loadsMayWrite: Whether loading a page may change files, as it may behind a proxy.
  init(dependencies: Set<String>, loadsMayWrite: Bool) {
    self.dependencies = dependencies
    self.loadsMayWrite = loadsMayWrite
  }

  /// - Parameter paths: Changed paths that the page watches.
  mutating func changed(_ paths: [Path], at now: Int) -> Decision? {
    if !paths.isEmpty { isRevisionNew = false }
    var known = Set(changed)
    changed += paths.filter { known.insert($0).inserted }
    restarts.saved(paths, at: now)
    return decide(at: now, isNews: !paths.isEmpty)
  }

  /// Sets the tasks that are queued, running, or services that are not ready.
  mutating func unsettled(_ names: Set<String>, at now: Int) -> Decision? {
    unsettled = names.intersection(dependencies)
    if isBusy { hasRun = true }
    return decide(at: now)
  }

  private var isBusy: Bool { !unsettled.isSubset(of: serving) }

  /// Dependencies are the server behind the page, which the page has reached.
  mutating func serves(_ tasks: Set<String>, at now: Int) -> Decision? {
    let added = tasks.intersection(dependencies).subtracting(serving)
    if added.isEmpty { return nil }
    serving.formUnion(added)
    failed.subtract(added)
    // What the page has received is the answer of this very run.
    if !isBusy && changed.isEmpty { hasRun = false }
    return decide(at: now)
  }

  /// A dependency that is the server behind the page has started again.
  mutating func servingStarted(_ task: String, at now: Int) -> Decision? {
    failed.remove(task)
    serverStarted()
    (hasRun, delay) = (true, nil)
    return decide(at: now)
  }

  /// Another process serves than before.
  mutating func processChanged(at now: Int) -> Decision? {
    // The page reloads when the task has ended that ends the server.
    isBusy ? nil : react(to: restarts.processChanged(at: now), at: now)
  }

  /// The document that `restarts` awaits was delivered.
  mutating func delivered(
    _ document: BodyFingerprint, from server: ServerAddress, at now: Int
  ) -> Decision? {
    react(to: restarts.delivered(document, from: server), at: now)
  }

  /// The document was requested again.
  ///
  /// - Parameter answer: `nil` if the server cannot be reached.
  mutating func answered(
    _ answer: BodyFingerprint?, from server: ServerAddress, at now: Int
  ) -> Decision? {
    let reaction = restarts.answered(answer, from: server)
    defer {
      // This reload is none after a save.
      if reaction == .reload { restarts.awaitDocuments(of: nil) }
    }
    return react(to: reaction, at: now)
  }

  private mutating func react(to reaction: ServerRestarts.Reaction?, at now: Int) -> Decision? {
    switch reaction {
    case nil:
      return nil
    case .ask(let server, let milliseconds):
      return .ask(server, afterMilliseconds: milliseconds)
    case .reload:
      serverStarted()
      hasRun = true
      changed = []
      return isReloadDue ? send(at: now) : nil
    case .reloadLater(let milliseconds):
      hasRun = true
      return wait(milliseconds, for: .processes, at: now)
    }
  }

  /// Reloads the page now. What it waits for reloads it again.
  mutating func reloadRequested(at now: Int) -> Decision {
    let waiting = isBusy || !failed.isEmpty ? (hasRun, changed) : (false, [])
    changed = []
    // Also what the present server has answered.
    isRevisionNew = false
    defer { (hasRun, changed) = waiting }
    return send(at: now)
  }

  /// A request is passed on to the server.
  mutating func requested(at now: Int) {
    suspicion.requested(at: now)
  }

  /// A server has started whose documents the page shows.
  mutating func serverStarted() {
    revision += 1
    isRevisionNew = true
  }

  mutating func ended(_ task: String, hasFailed: Bool) {
    guard dependencies.contains(task) else { return }
    isRevisionNew = false
    if hasFailed { failed.insert(task) } else { failed.remove(task) }
  }

  /// A service is ready. Documents from its start on are those of the ready service.
  mutating func becameReady(_ task: String) {
    failed.remove(task)
  }

  /// The pause has ended.
  mutating func elapsed(at now: Int) -> Decision? {
    guard let delay else { return nil }
    // The end of another pause, after which a new one has begun.
    if now < delay.end { return .wait(milliseconds: delay.end - now) }
    self.delay = nil
    if delay.reason == .restart { restarts.waitedInVain(for: changed) }
    return isReloadDue ? send(at: now) : nil
  }

  private var isReloadDue: Bool { !isBusy && failed.isEmpty && (hasRun || !changed.isEmpty) }

  /// - Parameter isNews: Whether files have changed.
  private mutating func decide(at now: Int, isNews: Bool = false) -> Decision? {
    if !isReloadDue { return nil }
    if let delay, delay.reason != .suspicion { return nil }
    // Reloads after rounds are delayed by the rounds themselves.
    if !loadsMayWrite || hasRun { return send(at: now) }
    let hasDelay = delay != nil
    if hasDelay && !(isNews && suspicion.isOfOthers(changed, at: now)) { return nil }
    let time = hasDelay ? 0 : suspicion.delay(of: changed, at: now)
    if ReloadSuspicion.isNoticed(time) {
      return wait(time, for: .suspicion, loop: changed[0], at: now)
    }
    let restart = restarts.wait(for: changed)
    if max(time, restart) == 0 { return send(at: now) }
    return restart > time
      ? wait(restart, for: .restart, at: now) : wait(time, for: .suspicion, at: now)
  }

  private mutating func wait(
    _ time: Int, for reason: Delay.Reason, loop: Path? = nil, at now: Int
  ) -> Decision {
    delay = Delay(end: now + time, reason: reason)
    return .wait(milliseconds: time, loop: loop)
  }

  private mutating func send(at now: Int) -> Decision {
    delay = nil
    if !isRevisionNew { revision += 1 }
    isRevisionNew = false
    suspicion.reloaded(for: changed, at: now)
    let message = message
    if message == .reload { restarts.awaitDocuments(of: revision) }
    defer { (hasRun, changed) = (false, []) }
    return .send(message)
  }

  private var message: Message {
    let replaceable = changed.filter(Self.isReplaceable)
    if replaceable.isEmpty || replaceable.count > Self.mostReplaced { return .reload }
    let hasStylesheet = replaceable.contains { $0.extensionName == "css" }
    let others = changed.filter {
      !Self.isReplaceable($0) && !(hasStylesheet && Self.sources.contains($0.extensionName))
    }
    return others.isEmpty ? .update(replaceable) : .reload
  }

  /// A page compares each of them with all that it has loaded.
  private static let mostReplaced = 100

  /// Stylesheets and images, by their extensions.
  private static let replaceable: Set = [
    "css", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "apng",
  ]

  /// The extensions of sources of stylesheets. A change of one beside a stylesheet needs no reload.
  private static let sources: Set = ["scss", "sass", "less", "styl", "map"]

  private static func isReplaceable(_ path: Path) -> Bool {
    replaceable.contains(path.extensionName)
  }
}
