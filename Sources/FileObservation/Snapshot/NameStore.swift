import SystemCalls

/// The names of many entries, one behind the other in one piece of memory.
struct NameStore {
  /// Where a name stands.
  struct Place {
    fileprivate(set) var start: UInt32 = 0
    /// More than a byte: where names are stored in two bytes a letter, they are longer than 255 here.
    fileprivate(set) var count: UInt16 = 0

    var range: Range<Int> { Int(start)..<(Int(start) + Int(count)) }
  }

  /// By how many bytes the room for names grows.
  private static let room = 1 << 14

  /// Names, and room for more.
  private var bytes: [UInt8] = []
  private var end = 0
  private var unused = 0

  init(roomFor count: Int = 0) {
    bytes.reserveCapacity(count)
  }

  /// Puts a name in.
  mutating func add(_ name: UnsafeBufferPointer<UInt8>) -> Place {
    // No system has a longer one.
    let name = UnsafeBufferPointer(rebasing: name.prefix(Int(UInt16.max)))
    if end + name.count > bytes.count {
      let missing = max(Self.room, name.count)
      bytes.makeRoom(for: missing)
      bytes.append(contentsOf: repeatElement(0, count: missing))
    }
    bytes.withUnsafeMutableBytes {
      UnsafeMutableRawBufferPointer(rebasing: $0[end...]).copyMemory(
        from: UnsafeRawBufferPointer(name))
    }
    defer { end += name.count }
    return Place(start: UInt32(end), count: UInt16(name.count))
  }

  /// A name is needed no more. Its room is, until all are moved to another store.
  mutating func drop(_ place: Place) {
    unused += Int(place.count)
  }

  /// True if what is needed no more is the larger part.
  var isWastingRoom: Bool { unused > 1 << 14 && unused * 2 > end }

  /// How many bytes those names take that are needed.
  var usedByteCount: Int { end - unused }

  subscript(place: Place) -> ArraySlice<UInt8> { bytes[place.range] }

  /// True if the name that stands there is this one.
  @inline(__always)
  func isEqual(_ place: Place, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard Int(place.count) == name.count, let start = name.baseAddress else { return false }
    return bytes.withUnsafeBytes {
      guard let names = $0.baseAddress else { return false }
      return memcmp(names + Int(place.start), start, name.count) == 0
    }
  }

  /// Calls `body` with all there is, in which the places lie.
  @inline(__always)
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }

  /// Calls `body` with a name.
  func withName<Result>(
    at place: Place, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[place.range])) }
  }
}
