import Diagnostics

/// The error that the keys `o`, `n` and `N` are about. A pure value.
struct ErrorCursor {
  private var errors: [Diagnostic] = []
  private var index: Int?

  /// Moves by a number of errors, or of warnings without an error in a file, from the last one to the first one. Without
  /// a move before, the first one is meant, and so it is after the errors have changed.
  mutating func move(
    by step: Int, in diagnostics: [Diagnostic]
  ) -> (diagnostic: Diagnostic, text: String)? {
    let located = diagnostics.filter { $0.path != nil }
    let severity = [Diagnostic.Severity.error, .warning].first { severity in
      located.contains { $0.severity == severity }
    }
    guard let severity else { return nil }
    let present = located.filter { $0.severity == severity }
    if present != errors { (errors, index) = (present, nil) }
    let moved = index.map { ($0 + step + present.count) % present.count } ?? 0
    index = moved
    return (
      present[moved],
      present.count == 1
        ? "the only \(severity.rawValue)" : "\(severity.rawValue) \(moved + 1) of \(present.count)"
    )
  }
}
