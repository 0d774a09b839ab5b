import SystemCalls
import Testing

@Suite struct FileContentsTests {
  @Test("a regular file is read to its end")
  func regularFile() throws {
    let bytes = try #require(try fileContents(of: Path(#filePath)))
    #expect(bytes.starts(with: "import SystemCalls\n".utf8))
    #expect(bytes.suffix(2).elementsEqual("}\n".utf8))
  }

  @Test("what is not there, and what is no regular file, has no contents")
  func noFile() throws {
    #expect(try fileContents(of: "/nonexistent/file") == nil)
    #expect(try fileContents(of: "/dev/null/file") == nil)
    #expect(try fileContents(of: "/dev/null") == nil)
    #expect(try fileContents(of: "/") == nil)
  }

  #if os(Linux)
  @Test("a file may hold more than its status says")
  func unknownSize() throws {
    let bytes = try #require(try fileContents(of: "/proc/self/maps"))
    #expect(bytes.count > 4096)
  }

  @Test("a setting of the kernel's, which it only gives at once, is whole")
  func kernelSetting() throws {
    let bytes = try #require(try fileContents(of: "/proc/sys/kernel/ostype"))
    #expect(bytes.elementsEqual("Linux\n".utf8))
  }
  #endif
}
