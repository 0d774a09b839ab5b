extension Duration {
  /// The duration for people, in at most two units, rounded down: `12 ms`, `1.2 s`, `3 min 20 s`.
  package var shortDescription: String {
    let milliseconds = nanoseconds / 1_000_000
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1000
    if seconds < 60 { return "\(seconds).\(milliseconds % 1000 / 100) s" }
    if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
  }
}
