import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct DiskContentsTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func digest(of path: Path) -> ContentDigest? { contentDigest(of: path, atMost: 200_000) }

  @Test func `files of every size up to the limit are read`() throws {
    for size in [0, 1, 31, 32, 65_535, 65_536, 65_537, 200_000] {
      let text = String(repeating: "x", count: size)
      try directory.write(text, to: "f")
      #expect(digest(of: directory["f"]) == .of(text), "\(size) bytes")
    }
    try directory.write(String(repeating: "x", count: 200_001), to: "f")
    #expect(digest(of: directory["f"]) == nil)
  }

  @Test func `only regular files are read`() throws {
    try directory.makeDirectories("d")
    try directory.write(to: "f")
    try directory.link("l", to: "f")
    try directory.makePipe("p")
    for name in ["d", "l", "p", "none"] {
      #expect(digest(of: directory[name]) == nil, "\(name)")
    }
    #expect(try FileStatus(of: directory["l"]).inode != FileStatus(of: directory["f"]).inode)
    // Its size is 0, but it has content.
    #expect(digest(of: "/proc/self/maps") == nil)
  }

  @Test func `a status distinguishes a file from its replacement`() throws {
    try directory.write("one", to: "f")
    try directory.write("two", to: "g")
    let status = try FileStatus(of: directory["f"])
    #expect(try status == FileStatus(of: directory["f"]))
    try directory.rename("g", to: "f")
    #expect(try status != FileStatus(of: directory["f"]))
  }
}
