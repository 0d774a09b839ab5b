import TestSupport
import Testing

@testable import FileObservation

struct NumberMapTests {
  @Test func `a value is found until it is removed`() {
    var map = NumberMap()
    #expect(map[7] == nil)
    map[7] = 1
    map[UInt32.max] = 0
    map[7] = 2
    #expect(map[7] == 2)
    #expect(map[UInt32.max] == 0)
    #expect(map.count == 2)
    map[7] = nil
    map[8] = nil
    #expect(map[7] == nil)
    #expect(map[UInt32.max] == 0)
    #expect(map.count == 1)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random changes leave the same contents as in a dictionary`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var map = NumberMap()
    var model: [UInt32: UInt32] = [:]
    // It grows, and then it shrinks again.
    for step in 0..<20_000 {
      let key = UInt32.random(in: 0..<3000, using: &random)
      if Int.random(in: 0..<20_000, using: &random) < step {
        map[key] = nil
        model[key] = nil
      } else {
        map[key] = UInt32(step)
        model[key] = UInt32(step)
      }
      #expect(map.count == model.count)
    }
    for key in 0..<3000 as Range<UInt32> { #expect(map[key] == model[key]) }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random values of few keys leave the same contents as in a set`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var map = NumberMap()
    var model: Set<UInt32> = []
    func find(_ value: UInt32) -> (value: UInt32?, slot: Int) {
      map.find(value % 97) { $0 == value }
    }
    for _ in 0..<6000 {
      let value = UInt32.random(in: 0..<400, using: &random)
      let (known, slot) = find(value)
      #expect(known == (model.contains(value) ? value : nil))
      if model.remove(value) != nil {
        map.remove(at: slot)
      } else {
        map.insert(value, value % 97, at: slot)
        model.insert(value)
      }
      #expect(map.count == model.count)
    }
    for value in 0..<400 as Range<UInt32> {
      #expect(find(value).value == (model.contains(value) ? value : nil))
    }
  }

  @Test func `the owner is only asked about values with the same key`() {
    var map = NumberMap()
    for value in 0..<20 as Range<UInt32> { map.add(value, value) }
    var asked: [UInt32] = []
    _ = map.find(5) { value in
      asked.append(value)
      return value == 5
    }
    #expect(asked == [5])
  }

  @Test func `a quarter of the slots stays free, and most of them are in use`() {
    var map = NumberMap()
    for value in 0..<1000 as Range<UInt32> {
      map.add(value, value)
      #expect(map.count * 4 <= map.slotCount * 3)
    }
    #expect(map.slotCount == 2048)
    for value in 100..<1000 as Range<UInt32> { map.remove(at: map.find(value).slot) }
    #expect(map.slotCount <= 1024)
  }
}

extension NumberMap {
  /// Adds a value to those of a key.
  fileprivate mutating func add(_ value: UInt32, _ key: UInt32) {
    insert(value, key, at: find(key) { _ in false }.slot)
  }

  fileprivate var slotCount: Int {
    Mirror(reflecting: self).descendant("slots").map { Mirror(reflecting: $0).children.count } ?? 0
  }
}
