import Testing

@testable import FileObservation

struct DirectoryTableTests {
  private let name: [UInt8] = [UInt8(ascii: "a")]

  /// While the former path of a watch is compared, the directory at its new path may be scanned.
  @Test func `a directory that is given its own watch again keeps it`() {
    var snapshot = TreeSnapshot()
    let entry = name.withUnsafeBufferPointer {
      snapshot.insert($0, .directory, in: TreeSnapshot.root)
    }
    var table = DirectoryTable()
    table.add(entry, coverage: .recursive, stack: nil)
    #expect(table.setWatch(1, of: entry) == nil)
    #expect(table.shareWatch(1, with: entry) == nil, "it is not outdated")
    #expect(table.owners(of: 1) == [entry])
    #expect(table[entry]?.watch == 1)
    #expect(table.remove(entry) == 1)
    #expect(table.watchCount == 0)
  }

  @Test func `a watch of several files is outdated when the last of them is removed`() {
    var snapshot = TreeSnapshot()
    let entries = ["a", "b", "c"].map { name in
      Array(name.utf8).withUnsafeBufferPointer {
        snapshot.insert($0, .file, in: TreeSnapshot.root)
      }
    }
    var table = DirectoryTable()
    for entry in entries + entries { table.setWatch(1, ofFile: entry) }
    #expect(table.owners(of: 1) == entries)
    #expect(table.remove(entries[0]) == nil)
    #expect(Set(table.owners(of: 1)) == [entries[1], entries[2]])
    #expect(table.remove(entries[2]) == nil)
    #expect(table.watch(ofFile: entries[1]) == 1)
    #expect(table.remove(entries[1]) == 1)
    #expect(table.watchCount == 0)
  }
}
