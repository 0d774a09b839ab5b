/// A step of a compiled pattern.
enum GlobStep: Sendable, Hashable {
  /// This byte, not a slash.
  case byte(UInt8)
  /// One byte of the set, which contains no slash.
  case oneOf(ByteSet)
  /// One byte, not a slash.
  case anyByte
  /// Any number of bytes, no slash: `*`.
  case star
  /// A slash.
  case separator
  /// Any number of names, each followed by a slash: `**/`.
  case directories
  /// The rest of the path, at least one byte: `**` at the end.
  case everything
}
