import SystemCalls
import TestSupport
import Testing

struct DirectoryReaderTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func entries() throws -> [Path: FileType] {
    var found: [Path: FileType] = [:]
    let descriptor = try Descriptor.openDirectory(directory.path)
    try DirectoryReader().forEachEntry(of: descriptor) { (name, type) throws(SystemError) in
      #expect(name.baseAddress?[name.count] == 0, "a NUL stands behind the name")
      #expect(found.updateValue(type, forKey: Path(bytes: name)) == nil, "each entry once")
    }
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
    for number in 0..<1500 {
      try directory.write("", to: "a-name-long-enough-to-fill-the-buffer-\(number)")
    }
    #expect(try entries().count == 1500)
  }

  @Test func `a failing body ends the reading`() throws {
    try directory.write(to: "a")
    try directory.write(to: "b")
    let stop = SystemError(call: "test", code: EIO)
    var calls = 0
    #expect(throws: stop) {
      let descriptor = try Descriptor.openDirectory(directory.path)
      try DirectoryReader().forEachEntry(of: descriptor) { (_, _) throws(SystemError) in
        calls += 1
        throw stop
      }
    }
    #expect(calls == 1)
  }
}
