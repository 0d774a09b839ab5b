import SystemCalls

/// What is known about the restarts of a server that reloads itself. A state machine; times are
/// milliseconds on any clock.
///
/// A reload right after a save would show the old page if the server starts again because of the
/// same save. So a reload for a file waits if the last change of such a file led to a restart. What
/// proves wrong once is not repeated.
struct ServerRestarts: Sendable {
  enum Reaction: Hashable, Sendable {
    case ignore
    /// Reload now: requests wait until the server answers again.
    case reload
    /// Reload after a pause without further changes of the server, which may have several processes.
    case reloadLater(milliseconds: Int)
  }

  /// The longest time from a save to the restart that it leads to, for which later reloads wait.
  private static let longestWait = 3_000
  private static let pauseOfSeveral = 500

  /// The time from a save to the restart, by the extension of the file.
  private var times: [String: Int] = [:]
  /// When files with these extensions were saved first since the last restart.
  private var saves: [String: Int] = [:]
  /// How often the server has changed since the last save; `nil` before the first one.
  private var changes: Int?

  /// Files were saved.
  mutating func saved(_ paths: [Path], at now: Int) {
    if paths.isEmpty { return }
    changes = 0
    for name in Set(paths.map(\.extensionName)) {
      if let time = saves[name], now - time < Self.longestWait { continue }
      saves[name] = now
    }
  }

  /// How long a reload for these files waits for a restart.
  func wait(for paths: [Path]) -> Int {
    let time = paths.compactMap { times[$0.extensionName] }.max()
    return time.map { min(2 * $0 + 300, Self.longestWait) } ?? 0
  }

  /// A reload has waited in vain.
  mutating func waitedInVain(for paths: [Path]) {
    for path in paths { times[path.extensionName] = nil }
  }

  /// Another process serves. Only a save can be the reason, so that a server whose processes end at
  /// each request does not reload the page for ever.
  mutating func serverChanged(at now: Int) -> Reaction {
    guard let former = changes, former < 2 else { return .ignore }
    for (name, time) in saves where now - time <= Self.longestWait { times[name] = now - time }
    saves = [:]
    changes = former + 1
    return former == 0 ? .reload : .reloadLater(milliseconds: Self.pauseOfSeveral)
  }
}

extension Path {
  /// The extension of the last component in lower case; empty for none.
  var extensionName: String {
    let name = lastComponent
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return String(decoding: name[(dot + 1)...].map(\.lowercasedASCII), as: UTF8.self)
  }
}
