import SystemCalls

/// The places in files that pages were shown, by numbers: nothing else is opened in the editor.
struct LinkTable: Sendable {
  /// Where a link leads.
  struct Target: Hashable, Sendable {
    var path: Path
    var line: Int
    var column: Int?
  }

  private static let most = 2000

  private var targets: [Int: Target] = [:]
  /// The latest number of each target.
  private var numbers: [Target: Int] = [:]
  private var latest = 0

  subscript(number: Int) -> Target? { targets[number] }

  /// The lines with links for the places in files that they name.
  ///
  /// - Parameter resolve: The file that a name in the output means; `nil` if there is none.
  mutating func link(_ lines: [[Span]], resolve: (String) -> Path?) -> [[Span]] {
    lines.map { line in
      let found = SourceLocation.find(in: line.plainText, resolve: resolve)
      if found.isEmpty { return line }
      return line.linked(
        found.map { place in
          let target = Target(path: place.path, line: place.line, column: place.column)
          return (place.range, number(of: target))
        })
    }
  }

  /// The number of a target, which keeps it while it is shown again and again: output that repeats
  /// itself makes no other link invalid.
  private mutating func number(of target: Target) -> Int {
    // One that is valid for a short time only is not given to another line.
    if let number = numbers[target], number > latest - Self.most / 2 { return number }
    latest += 1
    targets[latest] = target
    numbers[target] = latest
    let oldest = latest - Self.most
    if let forgotten = targets.removeValue(forKey: oldest), numbers[forgotten] == oldest {
      numbers[forgotten] = nil
    }
    return latest
  }
}
