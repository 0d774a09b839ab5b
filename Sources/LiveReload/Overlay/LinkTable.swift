import SystemCalls

/// The places in files that pages were shown, by numbers: nothing else is opened in the editor.
struct LinkTable: Sendable {
  private static let most = 2000

  private var places: [Int: SourceLocation] = [:]
  private var latest = 0

  subscript(number: Int) -> SourceLocation? { places[number] }

  /// The lines with links for the places in files that they name.
  ///
  /// - Parameter resolve: The file that a name in the output means; `nil` if there is none.
  mutating func link(_ lines: [[Span]], resolve: (String) -> Path?) -> [[Span]] {
    lines.map { line in
      let found = SourceLocation.find(in: line.plainText, resolve: resolve)
      if found.isEmpty { return line }
      return line.linked(found.map { ($0.range, number(of: $0)) })
    }
  }

  private mutating func number(of place: SourceLocation) -> Int {
    latest += 1
    places[latest] = place
    places[latest - Self.most] = nil
    return latest
  }
}
