import SystemCalls

/// Decides when the open pages are told of what has changed. Inputs in, a decision out; no clock, no queue.
/// Times are milliseconds on any clock.
///
/// Changes are collected while a task that the page depends on is unsettled or has failed: pages see the
/// result of a round, once, and never a half of it.
///
/// A server behind a proxy may write a file whenever a page is loaded, such as a log. Where only files of the
/// last reload have changed, and right after it, three more reloads follow at once, and then at doubling
/// intervals. A directory of files writes nothing: there, such changes are saves in quick succession.
struct ReloadSession: Sendable {
  enum Message: Hashable, Sendable {
    case reload
    /// Stylesheets and images that can be replaced in the page.
    case update([Path])
  }

  enum Decision: Hashable, Sendable {
    case send(Message)
    /// Call `elapsed` after this time: each reload changes this path.
    case wait(milliseconds: Int, Path)
  }

  private static let echoTime = 2_000
  private static let freeEchoes = 3
  private static let shortestPause = 4_000
  private static let longestPause = 600_000

  private let dependencies: Set<String>
  private let watched: [Path]
  private let loadsMayWrite: Bool
  private var changed: [Path] = []
  /// Whether a dependency has run since the pages were told something.
  private var hasRun = false
  private var failed: Set<String> = []
  private var isBusy = false
  /// What the last reload was for, and when it was.
  private var lastChanged: Set<Path> = []
  private var lastTime = Int.min / 2
  /// How many reloads in a row were for what the one before may have changed.
  private var echoes = 0
  private var isWaiting = false

  /// - Parameters:
  ///   - dependencies: The tasks that must have succeeded before.
  ///   - watched: The directories and files whose changes count, by absolute paths.
  ///   - loadsMayWrite: Whether loading a page may change files, as it may behind a proxy.
  init(dependencies: Set<String>, watched: [Path], loadsMayWrite: Bool) {
    self.dependencies = dependencies
    self.watched = watched
    self.loadsMayWrite = loadsMayWrite
  }

  /// Whether the last run of a task that the page depends on has failed.
  var hasFailed: Bool { !failed.isEmpty }

  mutating func changed(_ paths: [Path], at now: Int) -> Decision? {
    for path in paths where watched.contains(where: path.isWithin) && !changed.contains(path) {
      changed.append(path)
    }
    return decide(at: now)
  }

  /// Sets which tasks are wanted or run, or are services that are not ready.
  mutating func unsettled(_ names: Set<String>, at now: Int) -> Decision? {
    let isBusy = !names.isDisjoint(with: dependencies)
    if isBusy { hasRun = true }
    self.isBusy = isBusy
    return decide(at: now)
  }

  mutating func ended(_ task: String, hasFailed: Bool) {
    guard dependencies.contains(task) else { return }
    if hasFailed { failed.insert(task) } else { failed.remove(task) }
  }

  /// The pause is over.
  mutating func elapsed(at now: Int) -> Decision? {
    guard isWaiting else { return nil }
    isWaiting = false
    if isBusy || hasFailed || !hasRun && changed.isEmpty { return nil }
    return send(at: now)
  }

  private mutating func decide(at now: Int) -> Decision? {
    if isBusy || hasFailed || !hasRun && changed.isEmpty { return nil }
    // What comes of a round is delayed by the rounds themselves.
    let isEcho =
      loadsMayWrite && !hasRun && lastChanged.isSuperset(of: changed)
      && (isWaiting || now - lastTime < Self.echoTime)
    guard isEcho else {
      echoes = 0
      return send(at: now)
    }
    if isWaiting { return nil }
    echoes += 1
    if echoes <= Self.freeEchoes { return send(at: now) }
    isWaiting = true
    let pause = Self.shortestPause << min(echoes - Self.freeEchoes - 1, 10)
    return .wait(milliseconds: min(pause, Self.longestPause), changed[0])
  }

  private mutating func send(at now: Int) -> Decision {
    isWaiting = false
    if !changed.isEmpty { lastChanged = Set(changed) }
    lastTime = now
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

  /// What stylesheets are made of: where one has changed with it, the page does not see them.
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
