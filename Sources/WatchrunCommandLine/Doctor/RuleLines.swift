import PathFiltering
import Support
import WatchrunSettings

extension FilterDecision.Rule {
  /// The rule as the command line shows it: with its option in place of the filter's parameter.
  ///
  /// - Parameter number: The position of the option among those with the same name.
  func shown(number: Int? = nil) -> FilterDecision.Rule {
    let option: FilterDecision.Source =
      switch source {
      case .parameter(.ignore): .file("--ignore")
      case .parameter(.filter): .file("--filter")
      case .parameter(.extensions): .file("--exts")
      case .builtIn, .file: source
      }
    return FilterDecision.Rule(source: option, line: number ?? line, pattern: pattern)
  }

  /// The same pattern at another place, such as a file or an option.
  func at(_ place: Path, line: Int? = nil) -> FilterDecision.Rule {
    FilterDecision.Rule(source: .file(place), line: line ?? self.line, pattern: pattern)
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

  /// A rule with its place for messages. The source stands for a file that there is not.
  func placing(_ rule: FilterDecision.Rule, or source: Path) -> FilterDecision.Rule {
    let place = self[rule.line]
    return rule.at(place.file.map { Path($0) } ?? source, line: place.line)
  }
}
