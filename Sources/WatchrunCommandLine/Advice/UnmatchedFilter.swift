import Dispatch
import FileObservation
import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// Finds out whether any file passes `-e`, `-f` and `-i`. Otherwise nothing would ever run, in silence.
struct UnmatchedFilter {
  let settings: Settings
  /// What is watched, by absolute paths.
  let roots: [Path]
  let directory: Path
  /// How many entries are looked at. In a larger tree nothing is said.
  var limit = 1000

  /// By then the first run has begun.
  private static let delay = DispatchTimeInterval.milliseconds(300)

  /// Warns soon after the start if no file passes.
  static func warnSoon(
    _ settings: Settings, of roots: [WatchedPath], _ console: Console, in directory: Path
  ) {
    let roots = roots.map { $0.path.absolute(from: directory) }
    let patterns = settings.filters + settings.ignores
    guard !settings.extensions.isEmpty || !patterns.isEmpty else { return }
    DispatchQueue.separate().asyncAfter(deadline: .now() + delay) { @Sendable in
      let search = UnmatchedFilter(settings: settings, roots: roots, directory: directory)
      if let text = search.warning { console.warn(text) }
    }
  }

  /// The warning; `nil` if a file passes, or if that is not known.
  var warning: String? {
    guard hasNoMatch else { return nil }
    let names = settings.extensions.map { $0.decoded }
    let extensions =
      names.isEmpty ? nil : "-e " + ShellWords.quoted(names.joined(separator: ",").word)
    let filters = settings.filters.map { "-f " + ShellWords.quoted($0.description.word) }
    let ignores = settings.ignores.map { "-i " + ShellWords.quoted($0.description.word) }
    var options = [extensions].compactMap { $0 } + filters
    if options.isEmpty { options = ignores }
    let events = Self.events(names)
    return "no file passes \(options.joined(separator: " ")) yet, so no change starts a run"
      + (events.isEmpty ? "" : "; for kinds of change: --events \(events.joined(separator: ","))")
      + (expression.map { "; patterns are globs, not regular expressions" + $0 } ?? "")
  }

  /// What is meant by a filter that is a regular expression, as far as that is known.
  private var expression: String? {
    settings.filters.map(\.description).first { $0.contains { "\\^$|".contains($0) } }.map {
      Pattern.option(for: $0).map { ": " + ShellWords.quoted($0.map(\.word)) } ?? ""
    }
  }

  private var hasNoMatch: Bool {
    if roots.isEmpty { return false }
    let filter = settings.makeFilter(in: directory)
    var rest = limit
    // Without a filter, an empty tree says nothing.
    var isLeftOut = !settings.extensions.isEmpty || !settings.filters.isEmpty
    for root in roots {
      guard (try? FileStatus(of: root, followsLinks: true))?.type == .directory else {
        return false
      }
      var pending = [root]
      while let place = pending.popLast() {
        for name in (try? directoryNames(of: place, followsLinks: true)) ?? [] {
          rest -= 1
          let path = place.appending(name.bytes)
          let type = (try? FileStatus(of: path))?.type
          if rest < 0 || settings.followsLinks && type == .symlink { return false }
          let isDirectory = type == .directory
          let decision = filter.decision(for: path, isDirectory: isDirectory, below: root)
          if decision.rule?.source == .parameter(.ignore) { isLeftOut = true }
          if isDirectory {
            if decision.isIncluded || decision.isBySelection { pending.append(path) }
          } else if decision.isIncluded {
            return false
          }
        }
      }
    }
    return isLeftOut
  }

  /// The kinds of change for inotifywait's events; empty if a name is none of them.
  private static func events(_ names: [String]) -> [String] {
    guard TypedLine.namesEvents(names.joined(separator: ",")) else { return [] }
    var known: Set<String> = []
    let kinds = names.flatMap { TypedLine.events[$0.lowercased()] ?? [] }
    return kinds.filter { known.insert($0).inserted }
  }
}

extension FilterDecision {
  /// Whether the path is left out because nothing selects it, and not because a rule ignores it.
  fileprivate var isBySelection: Bool {
    rule?.source == .parameter(.filter) || rule?.source == .parameter(.extensions)
  }
}
