/// A hash table of numbers by keys, for tables that are queried several times for each entry of a
/// tree: watches, and the names of large directories by hashes, which several may have in common.
///
/// Open addressing with linear probing. The keys are hashes, or are chosen by this module and the kernel and not
/// by users, so a multiplication suffices as a hash. Memory: 11 to 21 bytes for each value.
struct NumberMap {
  private struct Slot {
    var key: UInt32
    var value: UInt32
  }

  private static let none = UInt32.max
  private static let fewestSlots = 16

  private var slots = Self.free(Self.fewestSlots)
  private(set) var count = 0

  /// The value of a key for which `matches` returns true, and its slot; or the free slot where it would be inserted.
  @inline(__always)
  func find(
    _ key: UInt32, where matches: (UInt32) -> Bool = { _ in true }
  ) -> (value: UInt32?, slot: Int) {
    let mask = slots.count - 1
    var slot = home(of: key)
    while case let found = slots[slot], found.value != Self.none {
      if found.key == key, matches(found.value) { return (found.value, slot) }
      slot = (slot + 1) & mask
    }
    return (nil, slot)
  }

  /// The value of a key that has one. The largest number cannot be stored.
  subscript(key: UInt32) -> UInt32? {
    get { find(key).value }
    set {
      let (known, slot) = find(key)
      if let newValue {
        if known == nil { insert(newValue, key, at: slot) } else { slots[slot].value = newValue }
      } else if known != nil {
        remove(at: slot)
      }
    }
  }

  /// Inserts a value into the free slot that a search has returned since the last change.
  mutating func insert(_ value: UInt32, _ key: UInt32, at slot: Int) {
    slots[slot] = Slot(key: key, value: value)
    count += 1
    if count * 4 > slots.count * 3 { resize(to: slots.count * 2) }
  }

  /// Removes the value in a slot. Moves up the following ones that were displaced.
  mutating func remove(at slot: Int) {
    let mask = slots.count - 1
    var (hole, next) = (slot, (slot + 1) & mask)
    while slots[next].value != Self.none {
      if (next - home(of: slots[next].key)) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole].value = Self.none
    count -= 1
    if slots.count > Self.fewestSlots, count * 8 < slots.count { resize(to: slots.count / 2) }
  }

  private func home(of key: UInt32) -> Int {
    let mixed = UInt64(key) &* 0x9e37_79b9_7f4a_7c15
    return Int(mixed >> 32) & (slots.count - 1)
  }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = Self.free(size)
    for entry in old where entry.value != Self.none {
      slots[find(entry.key) { _ in false }.slot] = entry
    }
  }

  private static func free(_ count: Int) -> [Slot] {
    Array(repeating: Slot(key: 0, value: none), count: count)
  }
}
