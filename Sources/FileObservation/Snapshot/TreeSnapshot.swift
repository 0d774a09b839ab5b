import SystemCalls

/// The number that stands for no entry.
private let none = UInt32.max

/// A snapshot of the tree: the known entries, each with its parent, name, type, inode and
/// fingerprint.
///
/// There is one tree, rooted at `/`, so that roots may contain each other. Paths are computed from
/// the ancestors when they are needed.
///
/// Memory: 56 bytes for each entry and its name, and 11 to 21 bytes for the index in directories
/// with more than 32 entries.
struct TreeSnapshot {
  /// An entry. Valid until it is removed; its number is reused.
  struct Entry: Hashable, Sendable {
    /// For tables with entries as keys; never the largest number.
    let number: UInt32
  }

  static let root = Entry(number: 0)

  struct Record {
    var parent = none
    var nextSibling = none
    var previousSibling = none
    var firstChild = none
    var name = NameStore.NameRange()
    var type: FileType
    var state = State.listed
    /// 0 if it is unknown.
    var inode: UInt64 = 0
    var fingerprint: Fingerprint.State?
    var marks: Marks = []
  }

  enum State {
    /// Its children are searched one by one.
    case listed
    /// Its children are in the index.
    case indexed
    /// The record is not in use.
    case free
  }

  /// The largest number of children that are not indexed.
  static let listLimit = 32

  var records = [Record(type: .directory)]
  private var firstFree = none
  var names = NameStore()
  /// The children of large directories, by hashes of parent and name.
  private var index = NumberMap()
  /// The number of entries, including `/`.
  private(set) var count = 1
}

// MARK: - Queries

extension TreeSnapshot {
  /// The result of a search for a name. Valid until the snapshot changes.
  struct Lookup {
    let entry: Entry?
    fileprivate let insertionPoint: InsertionPoint

    fileprivate enum InsertionPoint {
      /// Among children that are not indexed, of which there are at least so many.
      case listed(Int)
      /// In a slot of the index, which is free if there is no entry.
      case indexed(slot: Int, hash: UInt32)
    }
  }

  /// Searches for the entry called `name` in `parent`.
  ///
  /// Inlined, because a call from a closure would retain every array of the snapshot.
  @inline(__always)
  func find(_ name: UnsafeBufferPointer<UInt8>, in parent: Entry) -> Lookup {
    if records[Int(parent.number)].state == .indexed { return findIndexed(name, in: parent) }
    var next = records[Int(parent.number)].firstChild
    var count = 0
    while next != none {
      count += 1
      if names.isEqual(records[Int(next)].name, name) {
        return Lookup(entry: Entry(number: next), insertionPoint: .listed(count))
      }
      next = records[Int(next)].nextSibling
    }
    return Lookup(entry: nil, insertionPoint: .listed(count))
  }

  private func findIndexed(_ name: UnsafeBufferPointer<UInt8>, in parent: Entry) -> Lookup {
    let hash = Self.hash(name, parent.number)
    let (number, slot) = index.find(hash) { number in
      let record = records[Int(number)]
      return record.parent == parent.number && names.isEqual(record.name, name)
    }
    return Lookup(entry: number.map(Entry.init), insertionPoint: .indexed(slot: slot, hash: hash))
  }

  /// FNV-1a of the name, seeded with the parent.
  private static func hash(_ name: UnsafeBufferPointer<UInt8>, _ parent: UInt32) -> UInt32 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(parent) &* 0x9e37_79b9_7f4a_7c15
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
  }

  func child(_ name: UnsafeBufferPointer<UInt8>, of parent: Entry) -> Entry? {
    find(name, in: parent).entry
  }

  func entry(at path: Path) -> Entry? {
    var entry = Self.root
    for name in path.components {
      guard let child = name.withUnsafeBufferPointer({ child($0, of: entry) }) else { return nil }
      entry = child
    }
    return entry
  }

  func parent(of entry: Entry) -> Entry? {
    let parent = records[Int(entry.number)].parent
    return parent == none ? nil : Entry(number: parent)
  }

  func type(of entry: Entry) -> FileType {
    records[Int(entry.number)].type
  }

  func hasChildren(_ entry: Entry) -> Bool { records[Int(entry.number)].firstChild != none }

  func children(of parent: Entry) -> [Entry] {
    var found: [Entry] = []
    var next = records[Int(parent.number)].firstChild
    while next != none {
      found.append(Entry(number: next))
      next = records[Int(next)].nextSibling
    }
    return found
  }

  /// Whether `entry` is `ancestor` or a descendant of it.
  func isWithin(_ entry: Entry, _ ancestor: Entry) -> Bool {
    var here: Entry? = entry
    while let step = here {
      if step == ancestor { return true }
      here = parent(of: step)
    }
    return false
  }

  func name(of entry: Entry) -> ArraySlice<UInt8> {
    names[records[Int(entry.number)].name]
  }

  func path(of entry: Entry) -> Path {
    var bytes: [UInt8] = []
    writePath(of: entry, into: &bytes)
    return Path(bytes: bytes)
  }

  /// Replaces the contents of `bytes` with the path, without allocating if it has the capacity.
  func writePath(of entry: Entry, into bytes: inout [UInt8]) {
    let length = pathLength(of: entry)
    let excess = bytes.count - max(length, 1)
    if excess > 0 { bytes.removeLast(excess) }
    if excess < 0 { bytes.append(contentsOf: repeatElement(0, count: -excess)) }
    if length == 0 { bytes[0] = UInt8(ascii: "/") }
    bytes.withUnsafeMutableBytes { writePath(of: entry, endingAt: length, in: $0) }
  }

  /// Calls `body` with the path of the entry `name` in `directory`, which need not be in the
  /// snapshot, and the offset of the name in it. Allocates nothing unless the path is very long.
  ///
  /// What `body` needs is passed as `context`: a closure that captured the owner of the snapshot
  /// would retain every array of it.
  @inline(__always)
  func withPath<Context, Result>(
    of name: UnsafeBufferPointer<UInt8>, in directory: Entry, _ context: Context,
    _ body: (Context, _ path: UnsafeBufferPointer<UInt8>, _ nameStart: Int) -> Result
  ) -> Result {
    let length = pathLength(of: directory)
    return withUnsafeTemporaryAllocation(byteCount: length + 1 + name.count, alignment: 1) { path in
      writePath(of: directory, endingAt: length, in: path)
      path[length] = UInt8(ascii: "/")
      UnsafeMutableRawBufferPointer(rebasing: path[(length + 1)...])
        .copyMemory(from: UnsafeRawBufferPointer(name))
      let path = UnsafeBufferPointer(path.assumingMemoryBound(to: UInt8.self))
      return body(context, path, length + 1)
    }
  }

  /// The length of the path of an entry; 0 for `/`.
  private func pathLength(of entry: Entry) -> Int {
    var length = 0
    var step = Int(entry.number)
    while records[step].parent != none {
      length += 1 + Int(records[step].name.count)
      step = Int(records[step].parent)
    }
    return length
  }

  /// Writes backwards, since an entry only knows its ancestors.
  private func writePath(
    of entry: Entry, endingAt length: Int, in path: UnsafeMutableRawBufferPointer
  ) {
    names.withUnsafeBytes { names in
      var end = length
      var step = Int(entry.number)
      while case let record = records[step], record.parent != none {
        let start = end - Int(record.name.count)
        UnsafeMutableRawBufferPointer(rebasing: path[start..<end])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: names[record.name.bytes]))
        path[start - 1] = UInt8(ascii: "/")
        end = start - 1
        step = Int(record.parent)
      }
    }
  }
}

// MARK: - Changes

extension TreeSnapshot {
  /// Inserts an entry. `parent` must not have one of that name, as a `lookup` may have shown.
  mutating func insert(
    _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, inode: UInt64 = 0, in parent: Entry,
    after lookup: Lookup? = nil
  ) -> Entry {
    let point = (lookup ?? find(name, in: parent)).insertionPoint
    let next = records[Int(parent.number)].firstChild
    let record = Record(
      parent: parent.number, nextSibling: next, name: names.add(name), type: type, inode: inode)
    let number: UInt32
    if firstFree != none {
      number = firstFree
      firstFree = records[Int(number)].nextSibling
      records[Int(number)] = record
    } else {
      number = UInt32(records.count)
      records.growIfNeeded()
      records.append(record)
    }
    records[Int(parent.number)].firstChild = number
    if next != none { records[Int(next)].previousSibling = number }
    count += 1
    switch point {
    case .listed(let count):
      if count >= Self.listLimit { indexChildren(of: parent.number) }
    case .indexed(let slot, let hash):
      index.insert(number, hash, at: slot)
    }
    return Entry(number: number)
  }

  /// The entry at an absolute path. It and its ancestors are inserted as absent unless they are known.
  mutating func makeEntry(at path: Path) -> Entry {
    var entry = Self.root
    for name in path.components {
      entry = name.withUnsafeBufferPointer { name in
        if let known = child(name, of: entry) { return known }
        let made = insert(name, .directory, in: entry)
        mark(made, .absent)
        return made
      }
    }
    return entry
  }

  mutating func setType(_ type: FileType, of entry: Entry) {
    records[Int(entry.number)].type = type
  }

  /// Removes `entry` and its descendants, the deepest first. Calls `visit` for each before it is
  /// removed.
  mutating func remove(_ entry: Entry, visit: (Entry) -> Void = { _ in }) {
    while case let child = records[Int(entry.number)].firstChild, child != none {
      remove(Entry(number: child), visit: visit)
    }
    visit(entry)
    // The root of the file system stays.
    if records[Int(entry.number)].parent == none { return }
    detach(entry.number)
    records[Int(entry.number)].state = .free
    records[Int(entry.number)].nextSibling = firstFree
    firstFree = entry.number
    count -= 1
    compactNamesIfNeeded()
  }

  private mutating func indexChildren(of parent: UInt32) {
    records[Int(parent)].state = .indexed
    var next = records[Int(parent)].firstChild
    while case let number = next, number != none {
      let record = records[Int(number)]
      let hash = names.withName(at: record.name) { Self.hash($0, parent) }
      index.insert(number, hash, at: index.find(hash) { _ in false }.slot)
      next = record.nextSibling
    }
  }

  private mutating func detach(_ number: UInt32) {
    let record = records[Int(number)]
    if records[Int(record.parent)].state == .indexed {
      let hash = names.withName(at: record.name) { Self.hash($0, record.parent) }
      index.remove(at: index.find(hash) { $0 == number }.slot)
    }
    if record.previousSibling != none {
      records[Int(record.previousSibling)].nextSibling = record.nextSibling
    } else {
      records[Int(record.parent)].firstChild = record.nextSibling
    }
    if record.nextSibling != none {
      records[Int(record.nextSibling)].previousSibling = record.previousSibling
    }
    records[Int(number)].parent = none
    names.release(record.name)
  }

  /// Names of removed entries stay in the store until they are the larger part.
  private mutating func compactNamesIfNeeded() {
    guard names.isMostlyUnused else { return }
    var kept = NameStore(capacity: names.usedByteCount)
    for number in records.indices where records[number].state != .free {
      records[number].name = names.withName(at: records[number].name) { kept.add($0) }
    }
    names = kept
  }
}

extension Array {
  /// Grows eightfold when the capacity is reached. When many elements are appended one by one,
  /// copying costs more than capacity: the kernel only provides pages that are used.
  mutating func growIfNeeded(for newcomers: Int = 1) {
    if count + newcomers > capacity { reserveCapacity(count * 8 + newcomers) }
  }
}
