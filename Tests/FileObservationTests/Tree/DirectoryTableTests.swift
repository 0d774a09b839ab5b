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
}
