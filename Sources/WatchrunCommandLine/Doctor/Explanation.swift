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
  private let roots: [Path]

  init(_ settings: Settings, console: Console, directory: Path) {
    self.settings = settings
    self.console = console
    self.directory = directory
    filter = settings.makeFilter(in: directory)
    project = ProjectRules(ProjectSource(settings, directory: directory))
    roots = settings.effectiveWatched.map { $0.path.absolute(from: directory) }
  }

  /// Prints one line for each path.
  func print() throws(Failure) {
    var text: [UInt8] = []
    var unreadable: Set<Path> = []
    for word in settings.command {
      let rule = rule(for: word) { error in
        guard let path = error.path, unreadable.insert(path).inserted else { return }
        console.problem("cannot read the ignore file \(path): \(error.reason)")
      }
      let path = Path(bytes: word).absolute(from: directory)
      if !roots.contains(where: path.isWithin) {
        let name = Path(bytes: word)
        console.problem(
          "\(name) is not watched: it is outside of the watched directories; "
            + "to watch it: -w \(ShellWords.quoted(word))")
      }
      if (try? FileStatus(of: path)) == nil {
        console.problem("\(Path(bytes: word)) does not exist; the answer is for such a file")
      }
      text += settings.separatesByNUL ? fields(rule, word) : line(rule, word)
    }
    try writeAnswer(text)
  }

  /// The rule of the command line and of ignore files, or else of the project, that decides.
  private func rule(for word: [UInt8], warn: (SystemError) -> Void) -> RulePlace? {
    let decision = decision(on: word, by: filter, warn: warn)
    if decision.isIncluded, let project {
      let own = self.decision(on: word, by: project.filter(in: directory), warn: warn)
      if let rule = own.rule { return project.place(of: rule) }
    }
    return decision.rule.map { RulePlace($0) }
  }

  private func decision(
    on word: [UInt8], by filter: PathFilter, warn: (SystemError) -> Void
  ) -> FilterDecision {
    let path = Path(bytes: word).absolute(from: directory)
    let type = (try? FileStatus(of: path))?.type
    let isDirectory = type.map { $0 == .directory } ?? (word.last == UInt8(ascii: "/"))
    // If several watched paths contain it, one that includes it is enough.
    let decisions = roots.filter { path.isWithin($0) }.map {
      filter.decision(for: path, isDirectory: isDirectory, below: $0, warn: warn)
    }
    let decision = decisions.first(where: \.isIncluded) ?? decisions.first
    return decision
      ?? filter.decision(for: path, isDirectory: isDirectory, below: path, warn: warn)
  }

  private func line(_ rule: RulePlace?, _ word: [UInt8]) -> [UInt8] {
    let prefix = rule?.bytes ?? "::".word
    return prefix + [UInt8(ascii: "\t")] + Path(bytes: word).quotedIfNeeded + [UInt8(ascii: "\n")]
  }

  private func fields(_ rule: RulePlace?, _ word: [UInt8]) -> [UInt8] {
    let fields = [
      rule?.source ?? [], rule.map { Array(String($0.line).utf8) } ?? [], rule?.pattern ?? [], word,
    ]
    return fields.flatMap { $0 + [0] }
  }
}
