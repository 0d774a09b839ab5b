import SystemCalls
import Testing

@Suite struct FileContentsTests {
  @Test func `a regular file is read to its end`() throws {
    let bytes = try #require(try fileContents(of: Path(#filePath)))
    #expect(bytes.starts(with: "import SystemCalls\n".utf8))
    #expect(bytes.suffix(2).elementsEqual("}\n".utf8))
  }

  @Test func `only the beginning of a file is read`() throws {
    let whole = try #require(try fileContents(of: Path(#filePath)))
    for limit in [0, 8, whole.count, whole.count + 1] {
      #expect(
        try fileContents(of: Path(#filePath), atMost: limit) == Array(whole.prefix(limit)))
    }
  }

  @Test func `a missing file, a device and a directory have no contents`() throws {
    #expect(try fileContents(of: "/nonexistent/file") == nil)
    #expect(try fileContents(of: "/dev/null/file") == nil)
    #expect(try fileContents(of: "/dev/null") == nil)
    #expect(try fileContents(of: "/") == nil)
  }

  #if os(Linux)
  @Test func `a file may be longer than its status says`() throws {
    let bytes = try #require(try fileContents(of: "/proc/self/maps"))
    #expect(bytes.count > 4096)
  }

  @Test func `a kernel setting, readable in one call only, is complete`() throws {
    let bytes = try #require(try fileContents(of: "/proc/sys/kernel/ostype"))
    #expect(bytes.elementsEqual("Linux\n".utf8))
  }
  #endif
}
