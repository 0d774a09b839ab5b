// The index of the children of large directories.

extension TreeSnapshot {
  /// FNV-1a of the name, seeded with the parent, and mixed for the sake of the low bits.
  static func hash(_ name: UnsafeBufferPointer<UInt8>, _ parent: UInt32) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(parent) &* 0x9e37_79b9_7f4a_7c15
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: (hash ^ (hash >> 29)) >> 3)
  }

  static func hash(
    of number: UInt32, _ records: [Record], _ names: NameStore
  ) -> Int {
    let record = records[Int(number)]
    return names.withName(at: record.name) { hash($0, record.parent) }
  }

  func hash(of number: UInt32) -> Int {
    Self.hash(of: number, records, names)
  }

  mutating func removeFromIndex(_ number: UInt32) {
    let (records, names) = (records, names)
    index.remove(number, hash(of: number)) { Self.hash(of: $0, records, names) }
  }

  /// Resizes the index for the children of large directories, and so many more.
  mutating func rebuildIndex(for newcomers: Int = 0) {
    let numbers = index.numbers
    // With some reserve, so that it is not resized again at once.
    index = NameIndex(for: numbers.count * 5 / 4 + newcomers)
    for number in numbers { index.insert(number, hash(of: number)) }
  }
}
