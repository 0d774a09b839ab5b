import TestSupport
import Testing

@testable import FileObservation

/// The snapshot compared with a dictionary of paths.
private struct SnapshotAndModel {
  var snapshot = TreeSnapshot()
  var model: [Path: FileType] = ["/": .directory]
  var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  private mutating func anyPath(_ isRoot: (Path, FileType) -> Bool) -> Path? {
    model.filter { isRoot($0.key, $0.value) }.keys.sorted().randomElement(using: &random)
  }

  private mutating func anyName() -> String {
    String(repeating: "n", count: Int.random(in: 1...40, using: &random))
      + String(Int.random(in: 0..<30, using: &random))
  }

  func entry(at path: Path) -> TreeSnapshot.Entry? {
    path.components.reduce(TreeSnapshot.root as TreeSnapshot.Entry?) { entry, name in
      entry.flatMap { snapshot.child(String(decoding: name, as: UTF8.self), of: $0) }
    }
  }

  mutating func insert() throws {
    let directory = try #require(anyPath { $1 == .directory })
    let name = anyName()
    let path = directory.appending(name)
    guard model[path] == nil else { return }
    let type = try #require([FileType.file, .directory, .symlink].randomElement(using: &random))
    _ = snapshot.insert(name, type, in: try #require(entry(at: directory)))
    model[path] = type
  }

  mutating func remove() throws {
    guard let path = anyPath({ path, _ in path != "/" }) else { return }
    var removed: Set<Path> = []
    let mirror = snapshot
    snapshot.remove(try #require(entry(at: path))) { removed.insert(mirror.path(of: $0)) }
    let expected = Set(model.keys.filter { $0.isWithin(path) })
    #expect(removed == expected)
    for path in expected { model[path] = nil }
  }

  /// Compares the entries by walking and by lookups from the root.
  func expectEqual() {
    var walked: [Path: FileType] = [:]
    var rest = [TreeSnapshot.root]
    while let entry = rest.popLast() {
      walked[snapshot.path(of: entry)] = snapshot.type(of: entry)
      rest += snapshot.children(of: entry)
    }
    #expect(walked == model)
    #expect(snapshot.count == model.count)
    #expect(model.keys.allSatisfy { entry(at: $0).map(snapshot.path(of:)) == $0 })
  }
}

struct TreeSnapshotModelTests {
  @Test(arguments: 1...UInt64(Effort.count(3, quick: 1)))
  func `random changes leave the same contents as in a dictionary of paths`(seed: UInt64) throws {
    var pair = SnapshotAndModel(seed: seed)
    let count = Effort.count(700, quick: 350)
    for step in 1...count {
      // It grows and shrinks, so that tables are resized both ways.
      let insertions = step < count * 4 / 7 ? 8 : 4
      switch Int.random(in: 0..<10, using: &pair.random) {
      case 0..<insertions: try pair.insert()
      default: try pair.remove()
      }
      if step.isMultiple(of: 100) { pair.expectEqual() }
    }
    pair.expectEqual()
  }

  @Test func `thousands of entries are found, and the rest after most were removed`() {
    var snapshot = TreeSnapshot()
    let directory = snapshot.insert("directory", .directory, in: TreeSnapshot.root)
    let names = (0..<5000).map { "file-\($0)" }
    let entries = names.map { snapshot.insert($0, in: directory) }
    #expect(zip(names, entries).allSatisfy { snapshot.child($0, of: directory) == $1 })
    for (number, entry) in entries.enumerated() where !number.isMultiple(of: 10) {
      snapshot.remove(entry)
    }
    for (number, name) in names.enumerated() {
      let isKept = number.isMultiple(of: 10)
      #expect(snapshot.child(name, of: directory) == (isKept ? entries[number] : nil))
    }
    #expect(snapshot.count == 502)
  }

  @Test func `the names of removed entries are released`() {
    var snapshot = TreeSnapshot()
    let directory = snapshot.insert("directory", .directory, in: TreeSnapshot.root)
    let long = String(repeating: "n", count: 200)
    for number in 0..<3000 { _ = snapshot.insert("\(long)-\(number)", in: directory) }
    #expect(snapshot.bytesInUse > 600 * 1024)
    snapshot.remove(directory)
    #expect(snapshot.bytesInUse < 200 * 1024)
  }

  @Test func `inserting and removing many entries does not make it grow`() {
    var snapshot = TreeSnapshot()
    let kept = snapshot.insert("kept", .directory, in: TreeSnapshot.root)
    var largest = 0
    for round in 0..<5_000 {
      let entry = snapshot.insert("a-name-that-takes-some-room-\(round)", in: kept)
      snapshot.remove(entry)
      largest = max(largest, snapshot.bytesInUse)
    }
    #expect(largest < 64 * 1024)
    #expect(snapshot.count == 2)
  }
}

extension TreeSnapshot {
  /// Compares the contents of the tables.
  fileprivate var bytesInUse: Int { bytes(in: self) }

  private func bytes(in table: Any) -> Int {
    switch table {
    case let bytes as [UInt8]: return bytes.count
    case let slots as [UInt32]: return 4 * slots.count
    default:
      let mirror = Mirror(reflecting: table)
      switch mirror.displayStyle {
      case .collection: return 28 * mirror.children.count
      case .struct: return mirror.children.reduce(0) { $0 + bytes(in: $1.value) }
      default: return 0
      }
    }
  }
}
