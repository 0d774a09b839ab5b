import SystemCalls

/// The names of many entries in one array of bytes.
struct NameStore {
  /// The range of a name in the store.
  struct NameRange {
    fileprivate(set) var start: UInt32 = 0
    /// Names can exceed 255 bytes where the file system stores them in UTF-16.
    fileprivate(set) var count: UInt16 = 0

    var bytes: Range<Int> { Int(start)..<(Int(start) + Int(count)) }
  }

  /// The number of bytes by which the array grows.
  private static let growth = 1 << 14

  /// Names, followed by unused bytes from `end` on.
  private var bytes: [UInt8] = []
  private var end = 0
  private var unused = 0

  init(capacity count: Int = 0) {
    bytes.reserveCapacity(count)
  }

  mutating func add(_ name: UnsafeBufferPointer<UInt8>) -> NameRange {
    // No file system has longer names.
    let count = min(name.count, Int(UInt16.max))
    if end + count > bytes.count {
      let missing = max(Self.growth, count)
      bytes.growIfNeeded(for: missing)
      bytes += Array(repeating: 0, count: missing)
    }
    bytes.withUnsafeMutableBytes { bytes in
      guard let store = bytes.baseAddress, let start = name.baseAddress else { return }
      (store + end).copyMemory(from: start, byteCount: count)
    }
    defer { end += count }
    return NameRange(start: UInt32(end), count: UInt16(count))
  }

  /// Releases a name. Its bytes stay in use until the remaining names are copied to another store.
  mutating func release(_ range: NameRange) {
    unused += Int(range.count)
  }

  /// Whether released names are the larger part.
  var isMostlyUnused: Bool { unused > 1 << 14 && unused * 2 > end }

  /// The number of bytes of the names that were not released.
  var usedByteCount: Int { end - unused }

  subscript(range: NameRange) -> ArraySlice<UInt8> { bytes[range.bytes] }

  @inline(__always)
  func isEqual(_ range: NameRange, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard Int(range.count) == name.count, let start = UnsafeRawPointer(name.baseAddress) else {
      return false
    }
    return bytes.withUnsafeBytes {
      guard let stored = $0.baseAddress.map({ $0 + Int(range.start) }) else { return false }
      // Siblings often have names of the same length that only differ at the end.
      let rest = name.count - MemoryLayout<UInt64>.size
      if rest >= 0, stored.word(at: rest) != start.word(at: rest) { return false }
      return memcmp(stored, start, name.count) == 0
    }
  }

  /// Calls `body` with the whole array.
  @inline(__always)
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }

  func withName<Result>(
    at range: NameRange, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range.bytes])) }
  }
}

extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
