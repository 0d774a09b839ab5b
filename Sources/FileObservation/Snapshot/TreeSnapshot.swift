import SystemCalls

/// The observer's picture of the tree: each entry it knows, with its parent, its name and its type.
///
/// One tree, rooted at `/`, so that folders given by several names or within each other meet in one
/// place, and so that a renamed folder's whole subtree has its new path at once. A path is put
/// together only when it is needed.
///
/// Memory: 24 bytes an entry and its name, and in folders of more than sixteen 8 to 15 bytes for finding it;
/// 36 to 51 bytes for a name of twelve. A fingerprint, which is only kept where nobody tells of changes, takes 32 more.
package struct TreeSnapshot {
  /// One entry. Holds as long as it has not been removed; its number is used again afterwards.
  package struct Entry: Hashable, Sendable {
    /// For tables of what is kept of entries; never the largest number.
    let number: UInt32
  }

  /// `/`, in which all begins.
  package static let root = Entry(number: 0)

  private struct Record {
    var parent: UInt32
    var nextSibling: UInt32
    var previousSibling: UInt32
    var firstChild: UInt32
    var nameStart: UInt32
    var nameCount: UInt8
    var type: UInt8
    /// What the owner of the snapshot has marked it with.
    var marks: UInt8
    var state: State
  }

  private enum State: UInt8 {
    case free
    /// Its children are found by going through them: they lie side by side.
    case listed
    /// It has so many that they are found by the index.
    case indexed
  }

  /// How many children are gone through, and not indexed.
  private static let mostListed = 16

  /// "No entry", in links and in slots.
  private static let none = UInt32.max
  private static let vacant: UInt8 = 0

  private var records: [Record]
  private var firstFree = TreeSnapshot.none
  private var names: [UInt8] = []
  private var unusedNameBytes = 0
  /// Open addressing: where an entry of a large folder is found by its parent and its name.
  private var slots: [UInt32]
  private var indexedCount = 0
  /// Of each slot a few bits of its entry's hash, and `vacant` of one that has none: so that what is
  /// not there is told without a look at the records, which are all over the memory.
  private var tags: [UInt8]
  /// By the entries' numbers, as far as any was set.
  private var fingerprints: [Fingerprint] = []
  /// How many entries there are, `/` among them.
  package private(set) var count = 1

  package init() {
    records = [
      Record(
        parent: Self.none, nextSibling: Self.none, previousSibling: Self.none,
        firstChild: Self.none, nameStart: 0, nameCount: 0, type: FileType.directory.code,
        marks: 0, state: .listed)
    ]
    slots = Array(repeating: Self.none, count: 64)
    tags = Array(repeating: Self.vacant, count: 64)
  }
}

// MARK: - Looking

extension TreeSnapshot {
  /// What a look for a name has come upon. It holds as long as nothing changes.
  package struct Lookup {
    /// The entry of that name, if there is one.
    package let entry: Entry?
    fileprivate let place: Place

    fileprivate enum Place {
      /// One of so many, at the least.
      case listed(Int)
      /// In this slot, which is free if there is no entry.
      case indexed(slot: Int, hash: Int)
    }
  }

  /// Looks for the entry called `name` in `parent`.
  ///
  /// Inlined, because a call from a closure would copy the whole snapshot, reference by reference.
  @inline(__always)
  package func find(_ name: UnsafeBufferPointer<UInt8>, in parent: Entry) -> Lookup {
    if records[Int(parent.number)].state == .indexed { return findIndexed(name, in: parent) }
    var next = records[Int(parent.number)].firstChild
    var count = 0
    while next != Self.none {
      count += 1
      if isNamed(next, name) {
        return Lookup(entry: Entry(number: next), place: .listed(count))
      }
      next = records[Int(next)].nextSibling
    }
    return Lookup(entry: nil, place: .listed(count))
  }

  private func findIndexed(
    _ name: UnsafeBufferPointer<UInt8>, in parent: Entry
  ) -> Lookup {
    let mask = slots.count - 1
    let hash = Self.hash(name, parent.number)
    let tag = Self.tag(of: hash)
    var slot = hash & mask
    while tags[slot] != Self.vacant {
      if tags[slot] == tag, case let index = slots[slot],
        records[Int(index)].parent == parent.number, isNamed(index, name)
      {
        return Lookup(entry: Entry(number: index), place: .indexed(slot: slot, hash: hash))
      }
      slot = (slot + 1) & mask
    }
    return Lookup(entry: nil, place: .indexed(slot: slot, hash: hash))
  }

  /// The entry called `name` in `parent`.
  package func child(_ name: UnsafeBufferPointer<UInt8>, of parent: Entry) -> Entry? {
    find(name, in: parent).entry
  }

  package func parent(of entry: Entry) -> Entry? {
    let parent = records[Int(entry.number)].parent
    return parent == Self.none ? nil : Entry(number: parent)
  }

  package func type(of entry: Entry) -> FileType {
    FileType(code: records[Int(entry.number)].type)
  }

  /// The entries directly in `parent`.
  package func children(of parent: Entry) -> [Entry] {
    var found: [Entry] = []
    var next = records[Int(parent.number)].firstChild
    while next != Self.none {
      found.append(Entry(number: next))
      next = records[Int(next)].nextSibling
    }
    return found
  }

  /// True if `entry` is `ancestor` or lies below it.
  package func isWithin(_ entry: Entry, _ ancestor: Entry) -> Bool {
    var here: Entry? = entry
    while let step = here {
      if step == ancestor { return true }
      here = parent(of: step)
    }
    return false
  }

  package func name(of entry: Entry) -> ArraySlice<UInt8> {
    let record = records[Int(entry.number)]
    let start = Int(record.nameStart)
    return names[start..<(start + Int(record.nameCount))]
  }

  package func path(of entry: Entry) -> Path {
    var bytes: [UInt8] = []
    putPath(of: entry, into: &bytes)
    return Path(bytes: bytes)
  }

  /// Replaces what is in `bytes` by the path, without allocating if there is room.
  package func putPath(of entry: Entry, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    appendPath(of: entry.number, to: &bytes)
    if bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
  }

  private func appendPath(of index: UInt32, to bytes: inout [UInt8]) {
    let record = records[Int(index)]
    if record.parent == Self.none { return }
    appendPath(of: record.parent, to: &bytes)
    bytes.append(UInt8(ascii: "/"))
    let start = Int(record.nameStart)
    names.withUnsafeBufferPointer {
      let name = UnsafeBufferPointer(rebasing: $0[start..<(start + Int(record.nameCount))])
      bytes.append(contentsOf: name)
    }
  }
}

// MARK: - Marks

extension TreeSnapshot {
  /// What the snapshot's owner notes of an entry.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Asked for by name: no filter is asked about it.
    package static let wanted = Marks(rawValue: 1)
    /// Known by name only: nothing is there at present.
    package static let absent = Marks(rawValue: 2)
    /// Met in the listing that is going on.
    package static let seen = Marks(rawValue: 4)
    /// On the way to a wanted entry that is not there at present.
    package static let awaited = Marks(rawValue: 8)
    /// A file of rules, asked for by name though it may be no part of what is watched.
    package static let rules = Marks(rawValue: 16)
    /// On the way to a file of rules, in a folder that is not entered otherwise.
    package static let passage = Marks(rawValue: 32)
  }

  package func marks(of entry: Entry) -> Marks {
    Marks(rawValue: records[Int(entry.number)].marks)
  }

  package mutating func mark(_ entry: Entry, _ marks: Marks) {
    records[Int(entry.number)].marks |= marks.rawValue
  }

  package mutating func unmark(_ entry: Entry, _ marks: Marks) {
    records[Int(entry.number)].marks &= ~marks.rawValue
  }
}

// MARK: - Fingerprints

extension TreeSnapshot {
  /// How the entry was found on the last look; nil if none has been taken note of.
  package func fingerprint(of entry: Entry) -> Fingerprint? {
    let index = Int(entry.number)
    guard index < fingerprints.count, fingerprints[index] != .none else { return nil }
    return fingerprints[index]
  }

  package mutating func setFingerprint(_ fingerprint: Fingerprint, of entry: Entry) {
    let index = Int(entry.number)
    if index >= fingerprints.count {
      let missing = records.count - fingerprints.count
      fingerprints.append(contentsOf: repeatElement(.none, count: missing))
    }
    fingerprints[index] = fingerprint
  }
}

// MARK: - Changing

extension TreeSnapshot {
  /// A new entry. There must be none of that name in `parent` yet, as a `lookup` may just have shown.
  package mutating func insert(
    _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, in parent: Entry,
    after lookup: Lookup? = nil
  ) -> Entry {
    let index: UInt32
    let record = Record(
      parent: Self.none, nextSibling: Self.none, previousSibling: Self.none, firstChild: Self.none,
      nameStart: 0, nameCount: 0, type: type.code, marks: 0, state: .listed)
    if firstFree != Self.none {
      index = firstFree
      firstFree = records[Int(index)].nextSibling
      records[Int(index)] = record
      if Int(index) < fingerprints.count { fingerprints[Int(index)] = .none }
    } else {
      index = UInt32(records.count)
      records.append(record)
    }
    count += 1
    let place = lookup.flatMap { $0.entry == nil ? $0.place : nil }
    attach(index, to: parent.number, name: name, at: place ?? find(name, in: parent).place)
    return Entry(number: index)
  }

  package mutating func setType(_ type: FileType, of entry: Entry) {
    records[Int(entry.number)].type = type.code
  }

  /// Takes out `entry` and all below it, the deepest first, and shows each to `visit` while its
  /// path can still be asked for.
  package mutating func remove(_ entry: Entry, visit: (Entry) -> Void = { _ in }) {
    while case let child = records[Int(entry.number)].firstChild, child != Self.none {
      remove(Entry(number: child), visit: visit)
    }
    visit(entry)
    if records[Int(entry.number)].parent != Self.none { detach(entry.number) }
    records[Int(entry.number)].state = .free
    records[Int(entry.number)].nextSibling = firstFree
    firstFree = entry.number
    count -= 1
    compactNamesIfWorthIt()
    shrinkSlotsIfWorthIt()
  }

  /// Takes `entry` out of its folder but keeps it and all below it, for `place` to put elsewhere.
  /// Meanwhile its path begins with its own name.
  package mutating func lift(_ entry: Entry) {
    detach(entry.number)
  }

  /// Puts a lifted entry into `parent`, where there must be none of that name.
  package mutating func place(
    _ entry: Entry, as name: UnsafeBufferPointer<UInt8>, in parent: Entry
  ) {
    attach(entry.number, to: parent.number, name: name, at: find(name, in: parent).place)
    compactNamesIfWorthIt()
  }

  private mutating func attach(
    _ index: UInt32, to parent: UInt32, name: UnsafeBufferPointer<UInt8>, at place: Lookup.Place
  ) {
    let next = records[Int(parent)].firstChild
    records[Int(index)].parent = parent
    records[Int(index)].previousSibling = Self.none
    records[Int(index)].nextSibling = next
    records[Int(index)].nameStart = UInt32(names.count)
    records[Int(index)].nameCount = UInt8(clamping: name.count)
    names.append(contentsOf: name.prefix(Int(UInt8.max)))
    if next != Self.none { records[Int(next)].previousSibling = index }
    records[Int(parent)].firstChild = index
    switch place {
    case .listed(let count): if count >= Self.mostListed { indexChildren(of: parent, count + 1) }
    case .indexed(let slot, let hash): occupy(slot, by: index, hash: hash)
    }
  }

  private mutating func indexChildren(of parent: UInt32, _ count: Int) {
    makeRoom(for: count)
    records[Int(parent)].state = .indexed
    var next = records[Int(parent)].firstChild
    while next != Self.none {
      occupySlot(for: next)
      next = records[Int(next)].nextSibling
    }
  }

  private mutating func detach(_ index: UInt32) {
    let record = records[Int(index)]
    if records[Int(record.parent)].state == .indexed { vacateSlot(of: index) }
    if record.previousSibling != Self.none {
      records[Int(record.previousSibling)].nextSibling = record.nextSibling
    } else {
      records[Int(record.parent)].firstChild = record.nextSibling
    }
    if record.nextSibling != Self.none {
      records[Int(record.nextSibling)].previousSibling = record.previousSibling
    }
    records[Int(index)].parent = Self.none
    unusedNameBytes += Int(record.nameCount)
  }

  /// Names of removed entries stay in the store until they are the larger part of it.
  private mutating func compactNamesIfWorthIt() {
    guard unusedNameBytes > 1 << 14, unusedNameBytes * 2 > names.count else { return }
    var kept: [UInt8] = []
    kept.reserveCapacity(names.count - unusedNameBytes)
    for index in records.indices where records[index].state != .free {
      let start = Int(records[index].nameStart)
      records[index].nameStart = UInt32(kept.count)
      kept.append(contentsOf: names[start..<(start + Int(records[index].nameCount))])
    }
    names = kept
    unusedNameBytes = 0
  }
}

// MARK: - Finding by name

extension TreeSnapshot {
  /// FNV-1a over the name, begun with the parent, and mixed so that the low bits are good ones.
  private static func hash(_ name: UnsafeBufferPointer<UInt8>, _ parent: UInt32) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(parent) &* 0x9e37_79b9_7f4a_7c15
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: (hash ^ (hash >> 29)) >> 3)
  }

  /// Bits that do not say where the slot is; never `vacant`.
  private static func tag(of hash: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: hash >> 48) | 1
  }

  private func hash(of index: UInt32) -> Int {
    let record = records[Int(index)]
    let start = Int(record.nameStart)
    return names.withUnsafeBufferPointer {
      Self.hash(
        UnsafeBufferPointer(rebasing: $0[start..<(start + Int(record.nameCount))]), record.parent)
    }
  }

  private func isNamed(_ index: UInt32, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let record = records[Int(index)]
    guard Int(record.nameCount) == name.count else { return false }
    let start = Int(record.nameStart)
    return names.withUnsafeBufferPointer {
      $0[start..<(start + name.count)].elementsEqual(name)
    }
  }

  private mutating func occupySlot(for index: UInt32) {
    let mask = slots.count - 1
    let hash = hash(of: index)
    var slot = hash & mask
    while tags[slot] != Self.vacant { slot = (slot + 1) & mask }
    occupy(slot, by: index, hash: hash)
  }

  private mutating func occupy(_ slot: Int, by index: UInt32, hash: Int) {
    slots[slot] = index
    tags[slot] = Self.tag(of: hash)
    indexedCount += 1
    makeRoom(for: 0)
  }

  /// At most two of three slots are occupied.
  private mutating func makeRoom(for newcomers: Int) {
    let wanted = (indexedCount + newcomers) * 3 / 2
    if wanted > slots.count { rebuildSlots(count: slots.count * 2) }
  }

  /// Empties the entry's slot and moves up those behind it that had to give way to it.
  private mutating func vacateSlot(of index: UInt32) {
    let mask = slots.count - 1
    var hole = hash(of: index) & mask
    while slots[hole] != index { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while tags[next] != Self.vacant {
      let home = hash(of: slots[next]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        tags[hole] = tags[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = Self.none
    tags[hole] = Self.vacant
    indexedCount -= 1
  }

  private mutating func rebuildSlots(count: Int) {
    slots = Array(repeating: Self.none, count: count)
    tags = Array(repeating: Self.vacant, count: count)
    indexedCount = 0
    for index in records.indices where records[index].state != .free {
      let parent = records[index].parent
      if parent != Self.none, records[Int(parent)].state == .indexed {
        occupySlot(for: UInt32(index))
      }
    }
  }

  private mutating func shrinkSlotsIfWorthIt() {
    if slots.count > 1024, indexedCount * 8 < slots.count { rebuildSlots(count: slots.count / 2) }
  }
}

extension FileType {
  fileprivate var code: UInt8 {
    switch self {
    case .unknown: 0
    case .file: 1
    case .directory: 2
    case .symlink: 3
    case .other: 4
    }
  }

  fileprivate init(code: UInt8) {
    switch code {
    case 1: self = .file
    case 2: self = .directory
    case 3: self = .symlink
    case 4: self = .other
    default: self = .unknown
    }
  }
}
