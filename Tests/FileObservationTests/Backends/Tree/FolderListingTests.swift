import PathFiltering
import SystemCalls
import Testing

@testable import FileObservation

struct FolderListingTests {
  private var listing = FolderListing()

  private mutating func append(_ name: String, _ type: FileType = .file) {
    Array(name.utf8).withUnsafeBufferPointer { listing.append($0, type) }
  }

  private func names() -> [String] {
    var names: [String] = []
    listing.forEach { name, type in
      #expect(name.baseAddress?[name.count] == 0, "a NUL stands behind it")
      names.append("\(String(decoding: name, as: UTF8.self)) \(type)")
    }
    return names
  }

  @Test mutating func `it holds names and types in order`() {
    #expect(listing.isEmpty)
    append("a")
    append("folder", .directory)
    append("🦀", .symlink)
    #expect(!listing.isEmpty)
    #expect(names() == ["a file", "folder directory", "🦀 symlink"])
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

  @Test mutating func `it tells which files of rules it holds`() {
    append(".gitignored")
    #expect(listing.ignoreFiles == [])
    append(".gitignore")
    append(".git", .directory)
    #expect(listing.ignoreFiles == [.gitignore, .git])
    listing.removeAll()
    #expect(listing.ignoreFiles == [])
  }
}
