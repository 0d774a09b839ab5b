import PathFiltering
import Support

/// The lines of a project file in which the rules of one key stand.
struct RuleLines: Sendable {
  /// Of each rule. Empty if there is no file.
  private let lines: [Int]
  /// Of the value of the key.
  private let first: Int

  /// - Parameter count: How many rules a string stands for.
  init(_ value: JSONValue?, in text: [UInt8], count: (String) -> Int) {
    func line(_ value: JSONValue) -> Int { TextPosition(value.offset, in: text).line }
    let elements = (value?.text == nil ? value?.elements : value.map { [$0] }) ?? []
    lines = elements.flatMap { element in
      Array(repeating: line(element), count: element.text.map(count) ?? 0)
    }
    first = value.map(line) ?? 0
  }

  /// The lines of patterns, of which a string may stand for several.
  init(ofPatterns value: JSONValue?, in text: [UInt8]) {
    self.init(value, in: text) { (try? GlobPattern.parse($0.utf8))?.count ?? 0 }
  }

  /// The lines of extensions, which a string may list.
  init(ofExtensions value: JSONValue?, in text: [UInt8]) {
    self.init(value, in: text) { $0.split(separator: ",").count }
  }

  /// The line of a rule by its number, from 1; the number itself if there is no file. The rule with number 0
  /// applies where no other does.
  subscript(number: Int) -> Int {
    lines.indices.contains(number - 1) ? lines[number - 1] : first == 0 ? number : first
  }
}
