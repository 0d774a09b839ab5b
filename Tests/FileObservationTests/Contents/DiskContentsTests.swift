import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct DiskContentsTests {
  private let directory: TemporaryDirectory
  private let disk = DiskContents(largestFile: 200_000)

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `files of every size up to the limit are read`() throws {
    for size in [0, 1, 31, 32, 65_535, 65_536, 65_537, 200_000] {
      let text = String(repeating: "x", count: size)
      try directory.write(text, to: "f")
      let sample = try #require(disk.sample(of: directory["f"]), "\(size) bytes")
      #expect(sample.digest == .of(text))
      #expect(sample.stamp == disk.stamp(of: directory["f"]))
      #expect(sample.stamp.size == UInt64(size))
    }
    try directory.write(String(repeating: "x", count: 200_001), to: "f")
    #expect(disk.sample(of: directory["f"]) == nil)
  }

  @Test func `only regular files are read`() throws {
    try directory.makeDirectories("d")
    try directory.write(to: "f")
    try directory.link("l", to: "f")
    try directory.makePipe("p")
    for name in ["d", "l", "p", "none"] {
      #expect(disk.sample(of: directory[name]) == nil, "\(name)")
    }
    #expect(disk.stamp(of: directory["l"])?.inode != disk.stamp(of: directory["f"])?.inode)
    // Its size is 0, but it has content.
    #expect(disk.sample(of: "/proc/self/maps") == nil)
  }

  @Test func `a stamp distinguishes a file from its replacement`() throws {
    try directory.write("one", to: "f")
    try directory.write("two", to: "g")
    let stamp = disk.stamp(of: directory["f"])
    #expect(stamp == disk.stamp(of: directory["f"]))
    try directory.rename("g", to: "f")
    #expect(stamp != disk.stamp(of: directory["f"]))
  }
}
