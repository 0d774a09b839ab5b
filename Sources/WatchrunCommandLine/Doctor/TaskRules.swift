import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// The paths whose changes count for a task or a page of a project, and where that is written.
struct TaskRules: Sendable {
  private let name: String
  private let roots: [Path]
  private let filter: PathFilter
  private let declared: DeclaredWrites
  /// The file, or `detected`.
  private let source: [UInt8]
  private let ignores: RuleLines
  private let filters: RuleLines
  private let extensions: RuleLines
  private let writes: RuleLines

  /// - Parameters:
  ///   - directory: Where relative paths start.
  ///   - value: The task in the text of the file.
  init(
    _ task: Project.Task, in directory: Path, source: [UInt8], _ value: JSONValue?,
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

  /// - Parameter directory: Where relative paths start.
  init(_ page: Project.Page, in directory: Path) {
    name = page.name
    roots = page.observed.map { $0.absolute(from: directory) }
    filter = PathFilter(base: directory, sources: [])
    declared = DeclaredWrites()
    source = []
    let none = RuleLines(ofPatterns: nil, in: nil)
    (ignores, filters, extensions, writes) = (none, none, none, none)
  }

  struct Decision: CustomStringConvertible {
    /// Of the task or page.
    let name: String
    /// Whether a change of the path counts.
    let isIncluded: Bool
    /// Whether it does not count because the task declares to write the path.
    var isWritten = false
    /// The rule that decides, if there is one.
    let rule: RulePlace?

    var description: String { name.printable + (rule.map { " (\($0))" } ?? "") }
  }

  /// The decision on an absolute path; `nil` if it is not watched for this.
  func decision(on path: Path, isDirectory: Bool) -> Decision? {
    let decisions = roots.filter { path.isWithin($0) }.map {
      filter.decision(for: path, isDirectory: isDirectory, below: $0)
    }
    guard let decision = decisions.first(where: \.isIncluded) ?? decisions.first else { return nil }
    if decision.isIncluded,
      let rule = declared.rule(
        for: path, isDirectory: isDirectory, watched: roots.map { WatchedPath($0) })
    {
      let place = writes.place(rule.line, rule.pattern, or: source)
      return Decision(name: name, isIncluded: false, isWritten: true, rule: place)
    }
    return Decision(
      name: name, isIncluded: decision.isIncluded, rule: decision.rule.map { place(of: $0) })
  }

  private func place(of rule: FilterDecision.Rule) -> RulePlace {
    let lines =
      switch rule.source {
      case .parameter(.ignore): ignores
      case .parameter(.filter): filters
      case .parameter(.extensions): extensions
      case .builtIn, .file: ignores
      }
    return lines.place(rule.line, rule.pattern, or: source)
  }
}
