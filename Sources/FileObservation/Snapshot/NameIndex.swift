/// A hash table of numbers whose keys are stored by its owner: the owner computes the hashes and
/// compares the keys.
///
/// Open addressing with linear probing. Memory: 8 to 15 bytes for each number.
struct NameIndex {
  /// The result of a search: the number and its slot, or the free slot where it would be inserted.
  struct Hit {
    let number: UInt32?
    let slot: Int
  }

  private static let none = UInt32.max
  private static let vacant: UInt8 = 0
  private static let fewestSlots = 64

  private var slots: [UInt32]
  /// A few bits of the hash in each slot, or `vacant`. Most searches end here, without a comparison
  /// by the owner, whose records are scattered in memory.
  private var tags: [UInt8]
  private(set) var count = 0

  /// Creates an empty table with capacity for `count` numbers.
  init(for count: Int = 0) {
    var size = Self.fewestSlots
    while !Self.hasRoom(for: count, in: size) { size *= 2 }
    slots = Array(repeating: Self.none, count: size)
    tags = Array(repeating: Self.vacant, count: size)
  }

  /// Searches for the number with this hash for which `matches` returns true.
  func find(_ hash: Int, where matches: (UInt32) -> Bool) -> Hit {
    let mask = slots.count - 1
    let tag = Self.tag(of: hash)
    var slot = hash & mask
    while tags[slot] != Self.vacant {
      if tags[slot] == tag, matches(slots[slot]) { return Hit(number: slots[slot], slot: slot) }
      slot = (slot + 1) & mask
    }
    return Hit(number: nil, slot: slot)
  }

  /// Whether so many more numbers leave at least a third of the slots free.
  func hasRoom(for newcomers: Int) -> Bool {
    Self.hasRoom(for: count + newcomers, in: slots.count)
  }

  /// In no particular order.
  var numbers: [UInt32] { slots.filter { $0 != Self.none } }

  /// Whether a smaller table would do.
  var isSparse: Bool { slots.count > 1024 && count * 8 < slots.count }

  /// Inserts a number. The table must have room for it and must not contain it.
  mutating func insert(_ number: UInt32, _ hash: Int) {
    let mask = slots.count - 1
    var slot = hash & mask
    while tags[slot] != Self.vacant { slot = (slot + 1) & mask }
    insert(number, hash, at: slot)
  }

  /// Inserts a number into the free slot that a search has returned since the last change.
  mutating func insert(_ number: UInt32, _ hash: Int, at slot: Int) {
    slots[slot] = number
    tags[slot] = Self.tag(of: hash)
    count += 1
  }

  /// Removes a number that the table contains. Moves up the following ones that were displaced, by
  /// their hashes.
  mutating func remove(_ number: UInt32, _ hash: Int, hashOf: (UInt32) -> Int) {
    let mask = slots.count - 1
    var hole = hash & mask
    while slots[hole] != number { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while tags[next] != Self.vacant {
      let home = hashOf(slots[next]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        tags[hole] = tags[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = Self.none
    tags[hole] = Self.vacant
    count -= 1
  }

  private static func hasRoom(for count: Int, in slots: Int) -> Bool {
    count * 3 / 2 <= slots
  }

  /// Bits of the hash that do not determine the slot; never `vacant`.
  private static func tag(of hash: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: hash >> 48) | 1
  }
}
