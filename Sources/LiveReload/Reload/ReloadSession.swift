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
/// file are delayed (`ReloadSuspicion`).
struct ReloadSession: Sendable {
  enum Message: Hashable, Sendable {
    case reload
    /// Replace stylesheets and images in the page.
    case update([Path])
  }

  enum Decision: Hashable, Sendable {
    case send(Message)
    /// Call `elapsed` after this time.
    case wait(milliseconds: Int)
    /// The same. Each reload changes this path.
    case waitForLoop(milliseconds: Int, Path)
  }

  /// The revision of a document that is requested now.
  private(set) var revision = 1
  /// Whether documents of this revision show everything that the next message announces.
  private var isRevisionNew = false
  private let dependencies: Set<String>
  private let watched: [Path]
  private let loadsMayWrite: Bool
  private var changed: [Path] = []
  /// Whether a dependency has run since the last message.
  private var hasRun = false
  private var failed: Set<String> = []
  private var isBusy = false
  private var suspicion = ReloadSuspicion()
  /// When a reload that is delayed is due.
  private var due: Int?

  /// - Parameters:
  ///   - dependencies: The tasks on which the page depends.
  ///   - watched: The absolute paths of the directories and files whose changes reload the page.
  ///   - loadsMayWrite: Whether loading a page may change files, as it may behind a proxy.
  init(dependencies: Set<String>, watched: [Path], loadsMayWrite: Bool) {
    self.dependencies = dependencies
    self.watched = watched
    self.loadsMayWrite = loadsMayWrite
  }

  /// Whether the last run of a dependency has failed.
  var hasFailed: Bool { !failed.isEmpty }

  mutating func changed(_ paths: [Path], at now: Int) -> Decision? {
    for path in paths where watched.contains(where: path.isWithin) {
      isRevisionNew = false
      if !changed.contains(path) { changed.append(path) }
    }
    return decide(at: now)
  }

  /// Sets the tasks that are queued, running, or services that are not ready.
  mutating func unsettled(_ names: Set<String>, at now: Int) -> Decision? {
    let isBusy = !names.isDisjoint(with: dependencies)
    if isBusy { hasRun = true }
    self.isBusy = isBusy
    return decide(at: now)
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
    guard let due else { return nil }
    // The end of another pause, after which a new one has begun.
    if now < due { return .wait(milliseconds: due - now) }
    self.due = nil
    return isReloadDue ? send(at: now) : nil
  }

  private var isReloadDue: Bool { !isBusy && !hasFailed && (hasRun || !changed.isEmpty) }

  private mutating func decide(at now: Int) -> Decision? {
    if !isReloadDue { return nil }
    // Reloads after rounds are delayed by the rounds themselves.
    if !loadsMayWrite || hasRun { return send(at: now) }
    if due != nil {
      return suspicion.isOfOthers(changed, at: now) ? send(at: now) : nil
    }
    let delay = suspicion.delay(of: changed, at: now)
    if delay == 0 { return send(at: now) }
    due = now + delay
    return ReloadSuspicion.isNoticed(delay)
      ? .waitForLoop(milliseconds: delay, changed[0]) : .wait(milliseconds: delay)
  }

  private mutating func send(at now: Int) -> Decision {
    due = nil
    if !isRevisionNew { revision += 1 }
    isRevisionNew = false
    suspicion.reloaded(for: changed, at: now)
    defer { (hasRun, changed) = (false, []) }
    return .send(message)
  }

  private var message: Message {
    let replaceable = changed.filter(Self.isReplaceable)
    if replaceable.isEmpty { return .reload }
    let hasStylesheet = replaceable.contains { Self.ending(of: $0) == "css" }
    let others = changed.filter {
      !Self.isReplaceable($0) && !(hasStylesheet && Self.sources.contains(Self.ending(of: $0)))
    }
    return others.isEmpty ? .update(replaceable) : .reload
  }

  /// Stylesheets and images, by their extensions.
  private static let replaceable: Set = [
    "css", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "apng",
  ]

  /// The extensions of sources of stylesheets. A change of one beside a stylesheet needs no reload.
  private static let sources: Set = ["scss", "sass", "less", "styl", "map"]

  private static func isReplaceable(_ path: Path) -> Bool {
    replaceable.contains(ending(of: path))
  }

  private static func ending(of path: Path) -> String {
    let name = path.lastComponent
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return String(decoding: name[(dot + 1)...].map(\.lowercasedASCII), as: UTF8.self)
  }
}
