import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// What a project ignores, what starts its tasks, and where that is written.
struct ProjectRules: Sendable {
  /// The file, or `detected`.
  private let source: Path
  private let patterns: [GlobPattern]
  private let lines: RuleLines
  private let tasks: [TaskRules]
  private let pages: [TaskRules]

  /// The rules of a project that was read or detected.
  init(_ project: Project, of source: ProjectSource) {
    let text = source.fileText
    let place = text == nil ? "detected" : source.file
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
    PathFilter(base: directory, ignore: patterns, sources: [])
  }

  /// A rule, with its place, of a filter whose ignore patterns are these, followed by those of options.
  func placing(_ rule: FilterDecision.Rule) -> FilterDecision.Rule {
    guard rule.source == .parameter(.ignore) else { return rule.shown() }
    return rule.line <= patterns.count
      ? lines.placing(rule, or: source) : rule.shown(number: rule.line - patterns.count)
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

/// The paths whose changes count for a task or a page of a project, and where that is written.
struct TaskRules: Sendable {
  private let name: String
  private let roots: [Path]
  private let filter: PathFilter
  private let declared: DeclaredWrites
  /// The file, or `detected`.
  private let source: Path
  private let ignores: RuleLines
  private let filters: RuleLines
  private let extensions: RuleLines
  private let writes: RuleLines

  /// - Parameter value: The task in the text of the file.
  init(
    _ task: Project.Task, in directory: Path, source: Path, _ value: JSONValue?,
    _ text: ProjectFileText?
  ) {
    name = task.name
    roots = task.watched.map { $0.absolute(from: directory) }
    filter = task.filter(in: directory)
    declared = task.declaredWrites(in: directory)
    self.source = source
    ignores = RuleLines(ofPatterns: value?["ignore"], in: text)
    filters = RuleLines(ofPatterns: value?["filter"], in: text)
    extensions = RuleLines(ofExtensions: value?["exts"], in: text)
    writes = RuleLines(ofPatterns: value?["writes"], in: text)
  }

  init(_ page: Project.Page, in directory: Path) {
    name = page.name
    roots = page.observed.map { $0.absolute(from: directory) }
    filter = PathFilter(base: directory, sources: [])
    declared = DeclaredWrites()
    source = ""
    let none = RuleLines(ofPatterns: nil, in: nil)
    (ignores, filters, extensions, writes) = (none, none, none, none)
  }

  struct Decision: CustomStringConvertible {
    let name: String
    /// Whether a change of the path counts.
    let isIncluded: Bool
    /// Whether it does not count because the task declares to write the path.
    var isWritten = false
    /// The rule that decides, if there is one.
    let rule: FilterDecision.Rule?

    var description: String { name.printable + (rule.map { " (\($0))" } ?? "") }
  }

  /// The decision on an absolute path; `nil` if it is not watched for this.
  func decision(on path: Path, isDirectory: Bool) -> Decision? {
    let decision = filter.decision(for: path, isDirectory: isDirectory, belowAny: roots)
    guard let decision else { return nil }
    if decision.isIncluded,
      let rule = declared.rule(
        for: path, isDirectory: isDirectory, watched: roots.map { WatchedPath($0) })
    {
      return Decision(
        name: name, isIncluded: false, isWritten: true, rule: writes.placing(rule, or: source))
    }
    return Decision(
      name: name, isIncluded: decision.isIncluded, rule: decision.rule.map { placing($0) })
  }

  private func placing(_ rule: FilterDecision.Rule) -> FilterDecision.Rule {
    let lines =
      switch rule.source {
      case .parameter(.ignore): ignores
      case .parameter(.filter): filters
      case .parameter(.extensions): extensions
      case .builtIn, .file: ignores
      }
    return lines.placing(rule, or: source)
  }
}

extension PathFilter {
  /// The decision on an absolute path: if several roots contain it, one that includes it is enough. `nil` if none does.
  func decision(
    for path: Path, isDirectory: Bool, belowAny roots: [Path],
    warn: (SystemError) -> Void = { _ in }
  ) -> FilterDecision? {
    let decisions = roots.filter { path.isWithin($0) }.map {
      decision(for: path, isDirectory: isDirectory, below: $0, warn: warn)
    }
    return decisions.first(where: \.isIncluded) ?? decisions.first
  }
}
