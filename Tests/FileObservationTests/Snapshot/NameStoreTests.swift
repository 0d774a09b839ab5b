import Testing

@testable import FileObservation

struct NameStoreTests {
  private var store = NameStore()

  private mutating func add(_ name: String) -> NameStore.NameRange {
    Array(name.utf8).withUnsafeBufferPointer { store.add($0) }
  }

  private func isEqual(_ place: NameStore.NameRange, _ name: String) -> Bool {
    Array(name.utf8).withUnsafeBufferPointer { store.isEqual(place, $0) }
  }

  @Test mutating func `a name is found in its range`() {
    let (one, two) = (add("one"), add("two"))
    #expect(store[one].elementsEqual("one".utf8))
    #expect(isEqual(two, "two"))
    #expect(!isEqual(two, "one"))
    #expect(!isEqual(two, "twofold"))
  }

  @Test(arguments: 1...20)
  mutating func `names that differ in one byte are different`(length: Int) {
    let name = Array(repeating: UInt8(ascii: "a"), count: length)
    let place = name.withUnsafeBufferPointer { store.add($0) }
    #expect(isEqual(place, String(repeating: "a", count: length)))
    for index in name.indices {
      var other = name
      other[index] = UInt8(ascii: "b")
      #expect(!isEqual(place, String(decoding: other, as: UTF8.self)))
    }
  }

  @Test mutating func `a name may be longer than the growth of the store`() {
    _ = add("short")
    let long = String(repeating: "n", count: Int(UInt16.max))
    let place = add(long)
    #expect(isEqual(place, long))
    #expect(isEqual(add("after"), "after"))
  }

  @Test mutating func `the store is mostly unused when the larger part was released`() {
    let places = (0..<4000).map { _ in add("0123456789") }
    for place in places.prefix(2000) { store.release(place) }
    #expect(!store.isMostlyUnused)
    store.release(places[2000])
    #expect(store.isMostlyUnused)
    #expect(store.usedByteCount == 19_990)
  }
}
