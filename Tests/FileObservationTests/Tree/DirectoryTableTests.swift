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

  /// A source that opens what it watches gives a number again once the file with it is closed.
  @Test func `a watch whose number was given to another entry is shared with this one`() {
    var snapshot = TreeSnapshot()
    let entries = ["a", "b"].map { name in
      Array(name.utf8).withUnsafeBufferPointer {
        snapshot.insert($0, .directory, in: TreeSnapshot.root)
      }
    }
    var table = DirectoryTable()
    table.add(entries[0], coverage: .recursive, stack: nil)
    #expect(table.setWatch(1, of: entries[0]) == nil)
    table.setWatch(1, ofFile: entries[1])
    #expect(table.owners(of: 1) == [entries[1]])
    #expect(table.shareWatch(1, with: entries[0]) == nil)
    #expect(table.owners(of: 1) == [entries[1], entries[0]])
  }

  @Test func `a watch whose number belongs to no entry any more is not outdated`() {
    var snapshot = TreeSnapshot()
    let entries = ["a", "b"].map { name in
      Array(name.utf8).withUnsafeBufferPointer {
        snapshot.insert($0, .directory, in: TreeSnapshot.root)
      }
    }
    var table = DirectoryTable()
    for entry in entries { table.add(entry, coverage: .recursive, stack: nil) }
    #expect(table.setWatch(1, of: entries[0]) == nil)
    table.setWatch(1, ofFile: entries[1])
    #expect(table.remove(entries[1]) == 1)
    #expect(table.owners(of: 1) == [])
    #expect(table.setWatch(1, of: entries[0]) == nil)
    #expect(table.owners(of: 1) == [entries[0]])
  }
}
