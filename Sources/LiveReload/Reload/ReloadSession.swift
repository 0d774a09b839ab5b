import SystemCalls

/// Decides when the open pages are told of what has changed. Inputs in, a message out; no clock, no queue.
///
/// Changes are collected while a task that the page depends on is unsettled or has failed: pages see the
/// result of a round, once, and never a half of it.
struct ReloadSession: Sendable {
  enum Message: Hashable, Sendable {
    case reload
    /// Stylesheets and images that can be replaced in the page.
    case update([Path])
  }

  private let dependencies: Set<String>
  private let watched: [Path]
  private var changed: [Path] = []
  /// Whether a dependency has run since the pages were told something.
  private var hasRun = false
  private var failed: Set<String> = []
  private var isBusy = false

  /// - Parameters:
  ///   - dependencies: The tasks that must have succeeded before.
  ///   - watched: The directories and files whose changes count, by absolute paths.
  init(dependencies: Set<String>, watched: [Path]) {
    self.dependencies = dependencies
    self.watched = watched
  }

  /// Whether the last run of a task that the page depends on has failed.
  var hasFailed: Bool { !failed.isEmpty }

  mutating func changed(_ paths: [Path]) -> Message? {
    for path in paths where watched.contains(where: path.isWithin) && !changed.contains(path) {
      changed.append(path)
    }
    return decide()
  }

  /// Sets which tasks are wanted or run, or are services that are not ready.
  mutating func unsettled(_ names: Set<String>) -> Message? {
    let isBusy = !names.isDisjoint(with: dependencies)
    if isBusy { hasRun = true }
    self.isBusy = isBusy
    return decide()
  }

  mutating func ended(_ task: String, hasFailed: Bool) {
    guard dependencies.contains(task) else { return }
    if hasFailed { failed.insert(task) } else { failed.remove(task) }
  }

  private mutating func decide() -> Message? {
    if isBusy || hasFailed || !hasRun && changed.isEmpty { return nil }
    defer { (hasRun, changed) = (false, []) }
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
