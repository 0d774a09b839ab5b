import TestSupport
import Testing

@testable import SystemCalls

struct DirectoryListingTests {
  private let directory: TemporaryDirectory
  private var listing = DirectoryListing()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func entries() throws -> [Path: FileType] {
    var found: [Path: FileType] = [:]
    var listing = DirectoryListing()
    try listing.read(try Descriptor.openDirectory(directory.path))
    listing.forEach { entry in
      let name = entry.name
      #expect(name.baseAddress?[name.count] == 0, "a NUL stands behind the name")
      #expect(found.updateValue(entry.type, forKey: Path(bytes: name)) == nil, "each entry once")
    }
    #expect(listing.count == found.count)
    return found
  }

  @Test func `reports the type of each entry, without . and ..`() throws {
    try directory.write(to: "file")
    try directory.makeDirectories("directory")
    try directory.link("link", to: "directory")
    let pipe = directory["pipe"]
    #expect(pipe.withCString { mkfifo($0, 0o600) } == 0)
    #expect(
      try entries() == ["file": .file, "directory": .directory, "link": .symlink, "pipe": .other])
  }

  @Test func `keeps names as bytes`() throws {
    let names: [[UInt8]] = [
      [0x61, 0xFF], Array("caf\u{E9}".utf8), Array("cafe\u{301}".utf8), Array("a\nb".utf8),
      Array("...".utf8), Array(".x".utf8), Array(repeating: 0x61, count: 255),
    ]
    for name in names { try directory.write(toName: name) }
    #expect(Set(try entries().keys) == Set(names.map { Path(bytes: $0) }))
  }

  @Test func `reads more than one buffer holds`() throws {
    let long = String(repeating: "x", count: 200)
    for number in 0..<400 { try directory.write("", to: "\(long)-\(number)") }
    #expect(try entries().count == 400)
  }

  @Test mutating func `a failing body ends the listing`() throws {
    try directory.write(to: "a")
    try directory.write(to: "b")
    try listing.read(try Descriptor.openDirectory(directory.path))
    let stop = SystemError(call: "test", code: EIO)
    var calls = 0
    #expect(throws: stop) {
      try listing.forEach { _ throws(SystemError) in
        calls += 1
        throw stop
      }
    }
    #expect(calls == 1)
  }

  @Test mutating func `the next directory replaces the entries`() throws {
    try directory.write(to: ".hidden")
    try directory.write(to: "b")
    try listing.read(try Descriptor.openDirectory(directory.path))
    #expect(listing.count == 2)
    try directory.makeDirectories("empty")
    try listing.read(try Descriptor.openDirectory(directory["empty"]))
    #expect(listing.count == 0)
    #expect(names() == [])
  }

  @Test mutating func `inodes are those of the files`() throws {
    for number in 0..<50 { try directory.write(to: "file-\(number)") }
    try listing.read(try Descriptor.openDirectory(directory.path))
    var inodes: [Path: UInt64] = [:]
    listing.forEach { inodes[Path(bytes: $0.name)] = $0.inode }
    for number in 0..<50 {
      let status = try FileStatus(of: directory["file-\(number)"])
      #expect(inodes[Path("file-\(number)")] == status.inode)
    }
  }
}

// MARK: - Records

extension DirectoryListingTests {
  private mutating func append(_ name: String, _ type: FileType = .file, inode: UInt64 = 1) {
    Array(name.utf8).withUnsafeBufferPointer {
      listing.append(DirectoryListing.Entry($0, type, inode: inode))
    }
  }

  private func names() -> [String] {
    var names: [String] = []
    listing.forEach { entry in
      #expect(entry.name.baseAddress?[entry.name.count] == 0, "a NUL follows it")
      names.append("\(String(decoding: entry.name, as: UTF8.self)) \(entry.type)")
    }
    return names
  }

  @Test mutating func `names and types are kept in order`() {
    #expect(listing.count == 0)
    append("a")
    append("directory", .directory)
    append("🦀", .symlink)
    append("pipe", .other)
    #expect(listing.count == 4)
    #expect(names() == ["a file", "directory directory", "🦀 symlink", "pipe other"])
  }

  @Test mutating func `it holds inodes of any size`() {
    append("a", inode: 1)
    append("b", inode: .max)
    var inodes: [UInt64] = []
    listing.forEach { inodes.append($0.inode) }
    #expect(inodes == [1, .max])
  }

  @Test mutating func `a name may have any length, and there may be very many`() {
    let long = String(repeating: "名", count: 255)
    let lengths = (1...40).map { String(repeating: "x", count: $0) }
    append(long)
    for name in lengths { append(name) }
    let many = (0..<50_000).map { "a-name-of-some-length-\($0)" }
    for name in many { append(name) }
    #expect(names() == ([long] + lengths + many).map { $0 + " file" })
    listing.removeAll()
    #expect(listing.count == 0)
    append("a")
    #expect(names() == ["a file"])
  }

  #if os(Linux)
  /// As some file systems do.
  @Test mutating func `types that are not recorded are looked up`() throws {
    try directory.write(to: "file")
    try directory.makeDirectories(".directory")
    for name in [".", "file", "..", "gone", ".directory"] { append(name, .unknown) }
    listing.complete(from: 0, of: try Descriptor.openDirectory(directory.path))
    #expect(names() == ["file file", ".directory directory"])
  }
  #endif
}
