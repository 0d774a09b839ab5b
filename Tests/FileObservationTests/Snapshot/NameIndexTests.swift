import TestSupport
import Testing

@testable import FileObservation

struct NameIndexTests {
  /// Few hashes for many numbers, so that they collide.
  private func hash(_ number: UInt32) -> Int {
    Int(number % 97) << 3 | Int(number % 5) << 48
  }

  private func holds(_ number: UInt32, _ index: NameIndex) -> Bool {
    index.find(hash(number)) { $0 == number }.number == number
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random changes leave the same contents as in a set`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = NameIndex()
    var model: Set<UInt32> = []
    for step in 0..<6000 {
      let number = UInt32.random(in: 0..<400, using: &random)
      if model.contains(number) {
        index.remove(number, hash(number), hashOf: hash)
        model.remove(number)
      } else {
        if !index.hasRoom(for: 1) {
          index = NameIndex(for: model.count * 2)
          for number in model { index.insert(number, hash(number)) }
        }
        let hit = index.find(hash(number)) { $0 == number }
        #expect(hit.number == nil)
        if step.isMultiple(of: 2) {
          index.insert(number, hash(number), at: hit.slot)
        } else {
          index.insert(number, hash(number))
        }
        model.insert(number)
      }
      #expect(index.count == model.count)
    }
    for number in 0..<400 as Range<UInt32> {
      #expect(holds(number, index) == model.contains(number))
    }
  }

  @Test func `the owner is only asked about numbers with a matching hash`() {
    var index = NameIndex()
    for number in 0..<20 as Range<UInt32> { index.insert(number, Int(number)) }
    var asked: [UInt32] = []
    _ = index.find(5) { number in
      asked.append(number)
      return number == 5
    }
    #expect(asked == [5])
  }

  @Test func `a third of the slots stays free`() {
    var index = NameIndex(for: 1000)
    #expect(index.hasRoom(for: 1000))
    var count: UInt32 = 0
    while index.hasRoom(for: 1) {
      index.insert(count, Int(count))
      count += 1
    }
    #expect((1000...1366).contains(count))
    #expect(!index.isSparse)
    for number in 100..<count { index.remove(number, Int(number), hashOf: { Int($0) }) }
    #expect(index.isSparse)
  }
}
