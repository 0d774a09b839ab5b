import SystemCalls
import TestSupport
import Testing

struct FileSystemTests {
  @Test func `a local folder is on a file system that tells of changes`() throws {
    #expect(FileSystemKind.withoutEvents(at: try TemporaryDirectory().path) == nil)
  }

  @Test func `of what is not there, no kind is known`() {
    #expect(FileSystemKind.withoutEvents(at: "/nonexistent") == nil)
  }

  @Test func `the root is mounted, and each mount point is absolute`() {
    let points = mountPoints()
    #expect(points.contains("/"))
    #expect(points.allSatisfy { $0.bytes.first == UInt8(ascii: "/") })
  }

  @Test func `the limit of open files is raised as far as it goes`() {
    let limit = raiseDescriptorLimit()
    #expect(limit >= 256)
    #expect(raiseDescriptorLimit() == limit)
  }
}
