import FileObservation
import PathFiltering
import Support
import SystemCalls

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
      text += settings.separatesByNUL ? fields(rule, word) : line(rule, word)
    }
    try writeAnswer(text)
  }

  /// A rule as it is printed.
  private struct Rule {
    let source: [UInt8]
    let line: Int
    let pattern: [UInt8]
  }

  /// The rule of the command line and of ignore files, or else of the project, that decides.
  private func rule(for word: [UInt8], warn: (SystemError) -> Void) -> Rule? {
    let decision = decision(on: word, by: filter, warn: warn)
    if decision.isIncluded, let project {
      let own = self.decision(on: word, by: project.filter(in: directory), warn: warn)
      if let rule = own.rule {
        return Rule(
          source: project.source, line: project.lines[rule.line - 1], pattern: rule.pattern)
      }
    }
    return decision.rule.map {
      Rule(source: $0.source.bytesWithOption, line: $0.line, pattern: $0.pattern)
    }
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

  private func line(_ rule: Rule?, _ word: [UInt8]) -> [UInt8] {
    let prefix = rule.map { $0.source + ":\($0.line):".word + $0.pattern } ?? "::".word
    return prefix + [UInt8(ascii: "\t")] + Path(bytes: word).quotedIfNeeded + [UInt8(ascii: "\n")]
  }

  private func fields(_ rule: Rule?, _ word: [UInt8]) -> [UInt8] {
    let fields = [
      rule?.source ?? [], rule.map { Array(String($0.line).utf8) } ?? [], rule?.pattern ?? [], word,
    ]
    return fields.flatMap { $0 + [0] }
  }
}

/// What a project ignores, and where that is written.
struct ProjectRules {
  /// The file, or `detected`.
  let source: [UInt8]
  private let patterns: [GlobPattern]
  /// The line of each pattern, or its number.
  let lines: [Int]

  /// `nil` if there is no project, or its file has errors.
  init?(_ source: ProjectSource) {
    guard let file = try? source.readFile() else {
      guard let found = source.detect()?.project else { return nil }
      self.source = "detected".word
      patterns = found.ignores
      lines = Array(1...max(1, patterns.count))
      return
    }
    self.source = source.file.bytes
    patterns = file.project.ignores
    lines = Self.lines(in: (try? fileContents(of: source.path)) ?? [], patterns.count)
  }

  /// A string may stand for several patterns.
  private static func lines(in text: [UInt8], _ count: Int) -> [Int] {
    let value = (try? JSONValue(parsing: text))?["ignore"]
    var elements = value.map { [$0] } ?? []
    if case .array(let values) = value?.content { elements = values }
    let lines = elements.flatMap { element -> [Int] in
      guard case .string(let string) = element.content else { return [] }
      let patterns = (try? GlobPattern.parse(string.utf8))?.count ?? 0
      return Array(repeating: TextPosition(element.offset, in: text).line, count: patterns)
    }
    return lines.count == count ? lines : Array(1...max(1, count))
  }

  func filter(in directory: Path) -> PathFilter {
    var settings = Settings()
    settings.ignores = patterns
    settings.ignoreSources = []
    return settings.makeFilter(in: directory)
  }
}
