import FileObservation
import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// What a project ignores, what starts its tasks, and where that is written.
struct ProjectRules: Sendable {
  /// The file, or `detected`.
  private let source: [UInt8]
  private let patterns: [GlobPattern]
  private let lines: RuleLines
  private let tasks: [TaskRules]
  private let pages: [TaskRules]

  /// The rules of a project that was read or detected.
  init(_ project: Project, of source: ProjectSource) {
    let text = source.fileText
    let place = text == nil ? "detected".word : source.file.bytes
    let file = text.flatMap { try? $0.value() }
    patterns = project.ignores
    lines = RuleLines(ofPatterns: file?["ignore"], in: text)
    self.source = place
    tasks = project.tasks.map { task in
      TaskRules(
        task, in: source.directory, source: place, file?["tasks"]?[task.group ?? task.name],
        text)
    }
    pages = project.pages.map { TaskRules($0, in: source.directory) }
  }

  func filter(in directory: Path) -> PathFilter {
    var settings = Settings()
    settings.ignores = patterns
    settings.ignoreSources = []
    return settings.makeFilter(in: directory)
  }

  /// The place of a rule of a filter whose ignore patterns are these, followed by those of options.
  func place(of rule: FilterDecision.Rule) -> RulePlace {
    guard rule.source == .parameter(.ignore) else { return RulePlace(rule) }
    guard rule.line <= patterns.count else {
      return RulePlace(rule, number: rule.line - patterns.count)
    }
    return lines.place(rule.line, rule.pattern, or: source)
  }

  /// The decisions of the tasks and pages that watch an absolute path.
  func decisions(on path: Path, isDirectory: Bool) -> [TaskRules.Decision] {
    Self.decisions(of: tasks + pages, on: path, isDirectory)
  }

  /// Why a change that starts no task leads to nothing; `nil` if a page shows it.
  func reason(of change: ChangeBatch.Change) -> String? {
    let isDirectory = change.type == .directory
    if !Self.decisions(of: pages, on: change.path, isDirectory).isEmpty { return nil }
    let decisions = Self.decisions(of: tasks, on: change.path, isDirectory)
    let writers = decisions.filter(\.isWritten).map(\.description)
    if !writers.isEmpty { return "written by \(writers.joined(separator: ", "))" }
    if let other = decisions.first(where: \.isIncluded) {
      return "\"events\" of \(other.name.printable) leaves out \(change.kind.rawValue)"
    }
    return decisions.firstResult(\.rule)?.description ?? "no task watches it"
  }

  private static func decisions(
    of rules: [TaskRules], on path: Path, _ isDirectory: Bool
  ) -> [TaskRules.Decision] {
    rules.compactMap { $0.decision(on: path, isDirectory: isDirectory) }
  }
}
