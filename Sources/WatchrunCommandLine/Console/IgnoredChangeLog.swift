import FileObservation
import Support
import Synchronization

/// The latest changes that did not count, and when each reason was reported. A pure state machine.
struct IgnoredChangeLog {
  struct Entry: Hashable {
    let path: Path
    let reason: String
  }

  private static let length = 10
  private static let maximumReasons = 100
  /// How long a reason is not reported again.
  static let interval = Duration.seconds(1)

  /// The latest ones, without repetitions; the newest last.
  private(set) var entries: [Entry] = []
  private var reported: [String: Instant] = [:]

  /// Notes a change. Returns whether its reason must be reported now.
  mutating func note(_ entry: Entry, at now: Instant) -> Bool {
    entries.removeAll { $0 == entry }
    entries.append(entry)
    if entries.count > Self.length { entries.removeFirst() }
    if let last = reported[entry.reason], last.duration(to: now) < Self.interval { return false }
    if reported.count >= Self.maximumReasons { reported = [:] }
    reported[entry.reason] = now
    return true
  }
}

/// Reports why changes did not count: with `--verbose` as they happen, and for the key `e`.
final class IgnoredChangeReporter: Sendable {
  private let console: Console
  private let directory: Path
  private let log = Mutex(IgnoredChangeLog())
  /// Those that a project adds to the options. Their places change with its file.
  let rules = Mutex<ProjectRules?>(nil)

  init(_ console: Console, directory: Path) {
    self.console = console
    self.directory = directory
  }

  /// Notes a change that the observer has not reported.
  func note(_ change: IgnoredChange) {
    note(change.path, change.reason.words(with: rules.withLock { $0 }))
  }

  /// Notes changes that lead to nothing.
  func note(_ changes: [ChangeBatch.Change], _ reason: String) {
    for change in changes { note(change.path, reason) }
  }

  private func note(_ path: Path, _ reason: String) {
    let entry = IgnoredChangeLog.Entry(path: path, reason: reason)
    let isDue = log.withLock { $0.note(entry, at: .now) }
    if isDue { console.say(changes: ["\(shown(entry)) did not count: \(reason)"]) }
  }

  func list() {
    let entries = log.withLock { $0.entries }
    if entries.isEmpty { return }
    console.say(.answer, "changes that did not count:")
    for entry in entries { console.say(.answer, "  \(shown(entry)): \(entry.reason)") }
  }

  private func shown(_ entry: IgnoredChangeLog.Entry) -> Path {
    entry.path.shown(in: directory)
  }
}

extension IgnoredChange.Reason {
  /// The reason, a rule as `--explain` prints it. The project adds its rules before the options.
  func words(with rules: ProjectRules? = nil) -> String {
    switch self {
    case .rule(let rule): (rules?.placing(rule) ?? rule.shown()).description
    case .kind(let kind): "--events leaves out \(kind.rawValue)"
    case .sameContent: "--skip-unchanged: same content"
    }
  }
}
