import PathFiltering
import Support
import WatchrunSettings

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

/// The places in a project file of the rules of one key.
struct RuleLines: Sendable {
  struct Place: Hashable, Sendable {
    /// `nil` if there is no file.
    var file: String?
    var line: Int
  }

  /// Of each rule. Empty if there is no file.
  private let places: [Place]
  /// Of the value of the key.
  private let first: Place?

  /// - Parameter count: How many rules a string stands for.
  init(_ value: JSONValue?, in text: ProjectFileText?, count: (String) -> Int) {
    func place(_ value: JSONValue) -> Place? {
      guard let place = text?.place(of: value.offset) else { return nil }
      return Place(file: place.file, line: place.position.line)
    }
    let elements = (value?.text == nil ? value?.elements : value.map { [$0] }) ?? []
    places = elements.flatMap { element in
      Array(repeating: place(element), count: element.text.map(count) ?? 0).compactMap(\.self)
    }
    first = value.flatMap(place)
  }

  /// The places of patterns, of which a string may stand for several.
  init(ofPatterns value: JSONValue?, in text: ProjectFileText?) {
    self.init(value, in: text) { (try? GlobPattern.parse($0.utf8))?.count ?? 0 }
  }

  /// The places of extensions, which a string may list.
  init(ofExtensions value: JSONValue?, in text: ProjectFileText?) {
    self.init(value, in: text) { $0.split(separator: ",").count }
  }

  /// The place of a rule by its number, from 1; its number as the line if there is no file. The rule with number 0
  /// applies where no other does.
  subscript(number: Int) -> Place {
    places.indices.contains(number - 1)
      ? places[number - 1] : first ?? Place(file: nil, line: number)
  }

  /// The place for messages. The source stands for a file that there is not.
  func place(_ number: Int, _ pattern: [UInt8], or source: [UInt8]) -> RulePlace {
    let place = self[number]
    return RulePlace(source: place.file?.word ?? source, line: place.line, pattern: pattern)
  }
}
