import Diagnostics
import SystemCalls

/// The source locations that pages have been shown, by numbers. No other location is opened in the editor.
struct LinkTable: Sendable {
  /// The target of a link.
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

  /// Returns the lines with links for the source locations in them.
  ///
  /// - Parameter resolve: Returns the file for a name in the output; `nil` if there is none.
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

  /// The number of a target. A target that is shown repeatedly keeps its number, so that repeated
  /// output invalidates no other link.
  private mutating func number(of target: Target) -> Int {
    // A number that will soon be reused is not used for another line.
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
