import PathFiltering
import SystemCalls
import Testing

@testable import FileObservation

struct DirectoryListingTests {
  private var listing = DirectoryListing()

  private mutating func append(_ name: String, _ type: FileType = .file, inode: UInt64 = 1) {
    Array(name.utf8).withUnsafeBufferPointer { listing.append($0, type, inode) }
  }

  private func names() -> [String] {
    var names: [String] = []
    listing.forEach { name, type, _ in
      #expect(name.baseAddress?[name.count] == 0, "a NUL follows it")
      names.append("\(String(decoding: name, as: UTF8.self)) \(type)")
    }
    return names
  }

  @Test mutating func `names and types are kept in order`() {
    #expect(listing.isEmpty)
    append("a")
    append("directory", .directory)
    append("🦀", .symlink)
    #expect(!listing.isEmpty)
    #expect(names() == ["a file", "directory directory", "🦀 symlink"])
  }

  @Test mutating func `it holds inodes of any size`() {
    append("a", inode: 1)
    append("b", inode: .max)
    var inodes: [UInt64] = []
    listing.forEach { inodes.append($0.inode) }
    #expect(inodes == [1, .max])
  }

  @Test mutating func `a name may be longer than 255 bytes, and there may be very many`() {
    let long = String(repeating: "名", count: 255)
    append(long)
    let many = (0..<50_000).map { "a-name-of-some-length-\($0)" }
    for name in many { append(name) }
    #expect(names() == ([long] + many).map { $0 + " file" })
    listing.removeAll()
    #expect(listing.isEmpty)
    append("a")
    #expect(names() == ["a file"])
  }

  @Test mutating func `a listing knows which ignore files it contains`() {
    append(".gitignored")
    #expect(listing.ignoreFiles == [])
    append(".gitignore")
    append(".git", .directory)
    #expect(listing.ignoreFiles == [.gitignore, .git])
    listing.removeAll()
    #expect(listing.ignoreFiles == [])
  }
}
