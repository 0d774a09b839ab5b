/// Finds numbers by a hash of what they stand for.
///
/// Open addressing with linear probing. It knows nothing of what the numbers stand for: its owner says
/// what their hashes are, and which of several that share one is meant. Memory: 8 to 15 bytes for each
/// that is in it.
struct NameIndex {
  /// Where a hash leads: to the number that was looked for, or to the slot where it would be.
  struct Hit {
    let number: UInt32?
    let slot: Int
  }

  private static let none = UInt32.max
  private static let vacant: UInt8 = 0
  private static let fewestSlots = 64

  private var slots: [UInt32]
  /// Of each slot a few bits of its number's hash, and `vacant` of one that has none: so that what is
  /// not there is told without asking the owner, whose records are all over the memory.
  private var tags: [UInt8]
  /// How many numbers are in it.
  private(set) var count = 0

  /// An empty one, with room for so many.
  init(for count: Int = 0) {
    var size = Self.fewestSlots
    while !Self.hasRoom(for: count, in: size) { size *= 2 }
    slots = Array(repeating: Self.none, count: size)
    tags = Array(repeating: Self.vacant, count: size)
  }

  /// Looks for the number with this hash of which `isMeant` is true.
  func find(_ hash: Int, where isMeant: (UInt32) -> Bool) -> Hit {
    let mask = slots.count - 1
    let tag = Self.tag(of: hash)
    var slot = hash & mask
    while tags[slot] != Self.vacant {
      if tags[slot] == tag, isMeant(slots[slot]) { return Hit(number: slots[slot], slot: slot) }
      slot = (slot + 1) & mask
    }
    return Hit(number: nil, slot: slot)
  }

  /// True if so many more can be put in: then at most two of three slots are occupied.
  func hasRoom(for newcomers: Int) -> Bool {
    Self.hasRoom(for: count + newcomers, in: slots.count)
  }

  /// True if a smaller one would do.
  var isSparse: Bool { slots.count > 1024 && count * 8 < slots.count }

  /// Puts a number in, for which there must be room, and which must not be in it.
  mutating func insert(_ number: UInt32, _ hash: Int) {
    let mask = slots.count - 1
    var slot = hash & mask
    while tags[slot] != Self.vacant { slot = (slot + 1) & mask }
    insert(number, hash, at: slot)
  }

  /// The same, into the free slot that a look for it has come upon since the last change.
  mutating func insert(_ number: UInt32, _ hash: Int, at slot: Int) {
    slots[slot] = number
    tags[slot] = Self.tag(of: hash)
    count += 1
  }

  /// Takes a number out that is in it. Those behind it that had to give way to it move up, for which
  /// their hashes are asked.
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

  /// Bits that do not say where the slot is; never `vacant`.
  private static func tag(of hash: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: hash >> 48) | 1
  }
}
