/// The part of a file that a request's `Range` header asks for.
enum ByteRange: Hashable, Sendable {
  /// The whole file: the header is malformed, or requests several parts.
  case whole
  /// These bytes, a non-empty range within the file.
  case part(Range<Int>)
  /// A range outside of the file: status 416.
  case unsatisfiable

  /// Parses the value of a `Range` header, for a file of `size` bytes.
  init(_ value: some Collection<UInt8>, size: Int) {
    self = .whole
    let unit = "bytes="
    let bytes = Array(value).trimmedBlanks
    guard bytes.prefix(unit.utf8.count).equalsIgnoringCase(unit) else { return }
    let parts = bytes.dropFirst(unit.utf8.count)
      .split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let from = parts.first?.trimmedBlanks,
      let through = parts.last?.trimmedBlanks
    else { return }
    if from.isEmpty {
      guard let count = through.decimal() else { return }
      if count == 0 {
        self = .unsatisfiable
      } else if size > 0 {
        self = .part(max(0, size - count)..<size)
      }
      return
    }
    guard let first = from.decimal() else { return }
    let last = through.isEmpty ? Int.max : through.decimal()
    guard let last, last >= first else { return }
    self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
  }
}
