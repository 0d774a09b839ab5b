import ActionRunning
import PathFiltering

extension FeedbackLoop {
  /// What the names of created or removed entries have in common.
  struct Names: Hashable {
    /// For people: `report-*.xml`.
    let text: String
    /// A pattern that matches the names; `nil` if it would match what people edit as well.
    let pattern: String?
  }

  /// The common prefix and suffix of two of the entries' names; `nil` if `path` is a file.
  var names: Names? {
    let names = entries.map { String(decoding: $0.lastComponent, as: UTF8.self) }
    guard let first = names.first, let last = names.last else { return nil }
    if first == last { return Names([first]) }
    let prefix = zip(first, last).prefix { $0 == $1 }.map(\.0)
    // Backwards.
    let suffix = zip(first.reversed(), last.reversed()).prefix { $0 == $1 }.map(\.0)
    let isShort = prefix.count + suffix.count >= min(first.count, last.count)
    // A number, such as a time, differs as a whole.
    let start = String(prefix.reversed().drop(while: \.isNumber).reversed())
    let end = isShort ? "" : String(suffix.reversed().drop(while: \.isNumber))
    // `server.log` and `server.pid` are not all that begins so, and `*.c` is what people edit.
    let areNumbered = [first, last].allSatisfy {
      $0.dropFirst(start.count).dropLast(end.count).contains(where: \.isNumber)
    }
    if start.isEmpty || !areNumbered {
      return Names(text: "\(first.printable) and \(last.printable)", pattern: nil)
    }
    return Names([start, end])
  }
}

extension FeedbackLoop.Names {
  /// - Parameter parts: Between two of them, there may be anything.
  fileprivate init(_ parts: [String]) {
    text = parts.map { $0.printable }.joined(separator: "*")
    let escaped = parts.map { String(decoding: GlobPattern.escaped($0.utf8), as: UTF8.self) }
    // Replaces bytes that are not UTF-8.
    pattern = String(escaped.joined(separator: "*").map { $0 == "\u{FFFD}" ? "*" : $0 })
  }
}
