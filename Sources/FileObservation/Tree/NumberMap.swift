/// A dictionary of numbers, for tables that are queried several times for each entry of a tree.
///
/// Open addressing with linear probing. The keys are chosen by this module and the kernel and not
/// by users, so a multiplication suffices as a hash. Memory: 11 to 21 bytes for each key.
struct NumberMap {
  private struct Slot {
    var key: UInt32
    var value: UInt32
  }

  private static let none = UInt32.max
  private static let fewestSlots = 16

  private var slots: [Slot]
  private(set) var count = 0

  init() {
    slots = Self.free(Self.fewestSlots)
  }

  /// The value of a key. The largest number cannot be stored.
  subscript(key: UInt32) -> UInt32? {
    get {
      let value = slots[slot(for: key)].value
      return value == Self.none ? nil : value
    }
    set {
      if let newValue, newValue != Self.none {
        set(newValue, for: key)
      } else {
        remove(key)
      }
    }
  }

  private mutating func set(_ value: UInt32, for key: UInt32) {
    var slot = self.slot(for: key)
    if slots[slot].value == Self.none {
      count += 1
      if count * 4 > slots.count * 3 {
        resize(to: slots.count * 2)
        slot = self.slot(for: key)
      }
    }
    slots[slot] = Slot(key: key, value: value)
  }

  private mutating func remove(_ key: UInt32) {
    var hole = slot(for: key)
    guard slots[hole].value != Self.none else { return }
    count -= 1
    // Moves up the following keys that were displaced.
    let mask = slots.count - 1
    var next = (hole + 1) & mask
    while slots[next].value != Self.none {
      let home = home(of: slots[next].key)
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole].value = Self.none
    if slots.count > Self.fewestSlots, count * 8 < slots.count { resize(to: slots.count / 2) }
  }

  /// The slot that contains the key, or the free slot where it would be inserted.
  private func slot(for key: UInt32) -> Int {
    let mask = slots.count - 1
    var slot = home(of: key)
    while slots[slot].value != Self.none, slots[slot].key != key { slot = (slot + 1) & mask }
    return slot
  }

  private func home(of key: UInt32) -> Int {
    let mixed = UInt64(key) &* 0x9e37_79b9_7f4a_7c15
    return Int(mixed >> 40) & (slots.count - 1)
  }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = Self.free(size)
    for entry in old where entry.value != Self.none { slots[slot(for: entry.key)] = entry }
  }

  private static func free(_ count: Int) -> [Slot] {
    Array(repeating: Slot(key: 0, value: none), count: count)
  }
}
