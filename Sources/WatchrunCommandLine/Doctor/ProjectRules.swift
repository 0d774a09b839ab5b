import PathFiltering
import Support
import SystemCalls
import WatchrunSettings

/// What a project ignores, and where that is written.
struct ProjectRules: Sendable {
  /// The file, or `detected`.
  private let source: [UInt8]
  private let patterns: [GlobPattern]
  /// The line of each pattern, or its number.
  private let lines: [Int]

  /// `nil` if there is no project, or its file has errors.
  init?(_ source: ProjectSource) {
    guard let project = (try? source.read()) ?? source.detect()?.project else { return nil }
    self.init(project, of: source)
  }

  /// The rules of a project that was read or detected.
  init(_ project: Project, of source: ProjectSource) {
    patterns = project.ignores
    let text = (try? fileContents(of: source.path)) ?? nil
    self.source = text == nil ? "detected".word : source.file.bytes
    lines = Self.lines(in: text ?? [], patterns.count)
  }

  /// A string may stand for several patterns.
  private static func lines(in text: [UInt8], _ count: Int) -> [Int] {
    let value = (try? JSONValue(parsing: text))?["ignore"]
    let elements = (value?.text == nil ? value?.elements : value.map { [$0] }) ?? []
    let lines = elements.flatMap { element -> [Int] in
      let patterns = element.text.flatMap { try? GlobPattern.parse($0.utf8) }?.count ?? 0
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

  /// The place of a rule of a filter whose ignore patterns are these, followed by those of options.
  func place(of rule: FilterDecision.Rule) -> RulePlace {
    guard rule.source == .parameter(.ignore) else { return RulePlace(rule) }
    guard rule.line <= patterns.count else {
      return RulePlace(rule, number: rule.line - patterns.count)
    }
    return RulePlace(source: source, line: lines[rule.line - 1], pattern: rule.pattern)
  }
}
