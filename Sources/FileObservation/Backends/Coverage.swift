/// How much of a directory is observed. Each case includes the ones before it.
package enum Coverage: Int, Comparable, Sendable {
  /// The entries that were asked for by name.
  case named
  /// All entries.
  case entries
  /// All descendants.
  case recursive

  package static func < (left: Coverage, right: Coverage) -> Bool {
    left.rawValue < right.rawValue
  }
}
