extension StringProtocol {
  /// The columns that the text takes in a terminal.
  package var columns: Int { reduce(0) { $0 + $1.columns } }
}

extension Character {
  /// East Asian wide and fullwidth characters.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  /// The columns of the first scalar: what is combined with it takes none.
  fileprivate var columns: Int {
    guard let scalar = unicodeScalars.first, scalar.value >= 0x300 else { return 1 }
    // A flag is two letters of a column each.
    if (0x1F1E6...0x1F1FF).contains(scalar.value) { return min(unicodeScalars.count, 2) }
    if scalar.properties.isEmojiPresentation
      || Self.wide.contains(where: { $0.contains(scalar.value) })
    {
      return 2
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}
