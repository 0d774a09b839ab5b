import PathFiltering
import SystemCalls

/// A rule as the command line shows it: with its options in place of the filter's parameters.
struct RulePlace: CustomStringConvertible {
  let source: [UInt8]
  let line: Int
  let pattern: [UInt8]

  /// `source:line:pattern`.
  var bytes: [UInt8] { source + ":\(line):".word + pattern }

  var description: String { bytes.printable }
}

extension RulePlace {
  /// - Parameter number: The position of an option among those with the same name.
  init(_ rule: FilterDecision.Rule, number: Int? = nil) {
    let source =
      switch rule.source {
      case .parameter(.ignore): "--ignore".word
      case .parameter(.filter): "--filter".word
      case .parameter(.extensions): "--exts".word
      case .builtIn, .file: rule.source.bytes
      }
    self.init(source: source, line: number ?? rule.line, pattern: rule.pattern)
  }

  /// The place of a rule of `--writes`.
  init(ofWrites rule: FilterDecision.Rule) {
    self.init(source: "--writes".word, line: rule.line, pattern: rule.pattern)
  }
}
