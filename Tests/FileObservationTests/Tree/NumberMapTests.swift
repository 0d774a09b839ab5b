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
}
