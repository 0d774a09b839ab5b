import SystemCalls
import TestSupport
import Testing

struct FileSystemTests {
  @Test func `a local directory is on a file system with events`() throws {
    #expect(eventlessFileSystem(of: try TemporaryDirectory().path) == nil)
  }

  @Test func `a missing path has no kind of file system`() {
    #expect(eventlessFileSystem(of: "/nonexistent") == nil)
  }

  @Test func `the root is mounted, and each mount point is absolute`() {
    let points = mountPoints()
    #expect(points.contains("/"))
    #expect(points.allSatisfy { $0.bytes.first == UInt8(ascii: "/") })
  }

  @Test func `a path is on the file system that is mounted nearest above it`() {
    #expect(fileSystemName(at: "/proc/self/status") == "proc")
    #expect(fileSystemName(at: "/") != nil && fileSystemName(at: "/") != "proc")
    #expect(fileSystemName(at: "/nonexistent") == nil)
  }

  @Test func `the limit of open files is raised as far as it goes`() {
    let limit = raiseDescriptorLimit()
    #expect(limit >= 256)
    #expect(raiseDescriptorLimit() == limit)
  }
}
