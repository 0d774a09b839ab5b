import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct DiskContentsTests {
  private let folder: TemporaryDirectory
  private let disk = DiskContents(largestFile: 200_000)

  init() throws {
    folder = try TemporaryDirectory()
  }

  @Test func `reads files of every size up to the bound`() throws {
    for size in [0, 1, 31, 32, 65_535, 65_536, 65_537, 200_000] {
      let text = String(repeating: "x", count: size)
      try folder.write(text, to: "f")
      let sample = try #require(disk.sample(of: folder["f"]), "\(size) bytes")
      #expect(sample.digest == .of(text))
      #expect(sample.stamp == disk.stamp(of: folder["f"]))
      #expect(sample.stamp.size == UInt64(size))
    }
    try folder.write(String(repeating: "x", count: 200_001), to: "f")
    #expect(disk.sample(of: folder["f"]) == nil)
  }

  @Test func `reads nothing but regular files`() throws {
    try folder.makeDirectories("d")
    try folder.write(to: "f")
    try folder.link("l", to: "f")
    try folder.makePipe("p")
    for name in ["d", "l", "p", "none"] { #expect(disk.sample(of: folder[name]) == nil, "\(name)") }
    #expect(disk.stamp(of: folder["l"])?.inode != disk.stamp(of: folder["f"])?.inode)
    // Says that it holds nothing, and holds something.
    #expect(disk.sample(of: "/proc/self/maps") == nil)
  }

  @Test func `a stamp tells a file from another in its place`() throws {
    try folder.write("one", to: "f")
    try folder.write("two", to: "g")
    let stamp = disk.stamp(of: folder["f"])
    #expect(stamp == disk.stamp(of: folder["f"]))
    try folder.rename("g", to: "f")
    #expect(stamp != disk.stamp(of: folder["f"]))
  }
}
