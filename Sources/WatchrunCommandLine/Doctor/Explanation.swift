import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// `--explain`: prints the rule that decides for each path, in the format of `git check-ignore -v -n`.
struct Explanation {
  private let settings: Settings
  private let console: Console
  private let directory: Path
  private let filter: PathFilter
  private let project: ProjectRules?
  /// Whether the project is that of a file without errors.
  private let hasFile: Bool
  private let watched: [WatchedPath]
  private var roots: [Path] { watched.map(\.path) }

  init(_ settings: Settings, console: Console, directory: Path) {
    self.settings = settings
    self.console = console
    self.directory = directory
    filter = settings.makeFilter(in: directory)
    let source = ProjectSource(settings, directory: directory)
    var project: Project?
    do throws(Failure) {
      project = try source.project(for: settings)
    } catch {
      // The rules that it would add are unknown.
      console.report(error)
    }
    self.project = project.map { ProjectRules($0, of: source) }
    hasFile = project != nil && source.hasFile
    watched = project?.watched(in: directory) ?? settings.absoluteWatched(in: directory)
  }

  func print() throws(Failure) {
    var text: [UInt8] = []
    var unreadable: Set<Path> = []
    for word in settings.command {
      let path = Path(bytes: word).absolute(from: directory)
      let type = (try? FileStatus(of: path))?.type
      let isDirectory = type.map { $0 == .directory } ?? (word.last == UInt8(ascii: "/"))
      let rule = rule(for: path, isDirectory, word) { error in
        guard let path = error.path, unreadable.insert(path).inserted else { return }
        console.problem("cannot read the ignore file \(path): \(error.reason)")
      }
      if !watched.contains(where: { $0.covers(path) }) { sayNotWatched(word) }
      if type == nil {
        console.problem("\(Path(bytes: word)) does not exist; the answer is for such a file")
      }
      text += settings.separatesByNUL ? fields(rule, word) : line(rule, word)
    }
    try writeAnswer(text)
  }

  private func sayNotWatched(_ word: [UInt8]) {
    let advice =
      hasFile
      ? "no task watches it; to watch it, add it to 'watch' of a task"
      : "it is outside of the watched directories; to watch it: -w \(ShellWords.quoted(word))"
    console.problem("\(Path(bytes: word)) is not watched: \(advice)")
  }

  /// The rule that decides: of the command line and of ignore files, or else of the project, or else of its
  /// tasks.
  private func rule(
    for path: Path, _ isDirectory: Bool, _ word: [UInt8], warn: (SystemError) -> Void
  ) -> FilterDecision.Rule? {
    func decision(by filter: PathFilter) -> FilterDecision {
      filter.decision(for: path, isDirectory: isDirectory, belowAny: roots, warn: warn)
        ?? filter.decision(for: path, isDirectory: isDirectory, below: path, warn: warn)
    }
    let general = decision(by: filter)
    let rule = general.rule?.shown()
    guard general.isIncluded else { return rule }
    let written = DeclaredWrites(settings.writes, base: directory).rule(
      for: path, isDirectory: isDirectory, watched: roots.map { WatchedPath($0) })
    if let written { return written.at("--writes") }
    guard let project else { return rule }
    let own = decision(by: project.filter(in: directory))
    let ownRule = own.rule.map(project.placing) ?? rule
    guard own.isIncluded else { return ownRule }
    return self.rule(of: project.decisions(on: path, isDirectory: isDirectory), word) ?? ownRule
  }

  /// The rule of a task that the path counts for, or else of one that ignores it. Says which tasks it counts
  /// for unless it does for all that watch it.
  private func rule(of decisions: [TaskRules.Decision], _ word: [UInt8]) -> FilterDecision.Rule? {
    let (included, others) = (
      decisions.filter(\.isIncluded), decisions.filter { !$0.isIncluded }
    )
    if !included.isEmpty, !others.isEmpty {
      func list(_ decisions: [TaskRules.Decision]) -> String {
        decisions.map(\.description).joined(separator: ", ")
      }
      console.say(
        .answer,
        "\(Path(bytes: word)) counts for \(list(included)); not for \(list(others))")
    }
    return (included.isEmpty ? others : included).firstResult(\.rule)
  }

  private func line(_ rule: FilterDecision.Rule?, _ word: [UInt8]) -> [UInt8] {
    let prefix = rule?.bytes ?? "::".word
    return prefix + [UInt8(ascii: "\t")] + Path(bytes: word).quotedIfNeeded + [UInt8(ascii: "\n")]
  }

  private func fields(_ rule: FilterDecision.Rule?, _ word: [UInt8]) -> [UInt8] {
    let fields = [
      rule?.source.bytes ?? [], rule.map { Array(String($0.line).utf8) } ?? [], rule?.pattern ?? [],
      word,
    ]
    return fields.flatMap { $0 + [0] }
  }
}
