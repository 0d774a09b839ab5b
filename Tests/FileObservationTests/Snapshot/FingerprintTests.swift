import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct FingerprintTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("one", to: "f")
  }

  private func look(_ name: String = "f") throws -> Fingerprint {
    Fingerprint(try FileStatus(of: directory[name]))
  }

  @Test func `two fingerprints of an unchanged file have no difference`() throws {
    #expect(try look().difference(to: try look()) == nil)
  }

  @Test func `a fingerprint within a clock tick of the last change is racy`() throws {
    let status = try FileStatus(of: directory["f"])
    let tick = Duration.nanoseconds(FileTime.granularity)
    let racy = Fingerprint(status, now: status.changed.advanced(by: tick - .nanoseconds(1)))
    let clean = Fingerprint(status, now: status.changed.advanced(by: tick))
    #expect(racy.isUncertain && !clean.isUncertain)
    #expect(racy == clean && racy.difference(to: clean) == nil)
  }

  @Test func `a write is a difference of content, also of the same size`() async throws {
    let before = try look()
    #expect(await clockTicks())
    try directory.write("two", to: "f")
    #expect(before.difference(to: try look()) == .content)
    #expect(before.mayBeSameFile(as: try look()))
  }

  /// A snapshot of btrfs has all inodes and times of its original.
  @Test func `the same inode on another device is another file`() throws {
    let one = try FileStatus(of: directory["f"])
    let other = FileStatus(
      type: one.type, device: one.device + 1, inode: one.inode, size: one.size,
      modified: one.modified,
      changed: one.changed, born: one.born, attributes: one.attributes)
    let isStored = one.born != nil
    #expect(Fingerprint(one).mayBeSameFile(as: Fingerprint(other)) != isStored)
    #expect(Fingerprint(one).mayBeSameFile(as: other) != isStored)
  }

  @Test func `a change of the mode is a difference of attributes`() async throws {
    let before = try look()
    #expect(await clockTicks())
    try directory.setMode(0o600, of: "f")
    #expect(before.difference(to: try look()) == .attributes)
  }

  @Test func `a new ctime without another difference is a difference of content`()
    async throws
  {
    let before = try look()
    #expect(await clockTicks())
    try directory.write("two", to: "f")
    // The timestamps are set back, as by `touch -r`.
    try await shell("touch -d @1 f; touch -d @1 g", in: directory.path)
    let early = try look()
    #expect(await clockTicks())
    try directory.write("six", to: "f")
    try await shell("touch -d @1 f", in: directory.path)
    #expect(early.difference(to: try look()) == .content)
    #expect(before.difference(to: early) == .content)
  }

  @Test func `a renamed file is the same file, a new one with its inode is not`() throws {
    let before = try look()
    try directory.rename("f", to: "g")
    #expect(before.isSameFile(as: try look("g")))
    try directory.remove("g")
    try directory.write("one", to: "f")
    #expect(try !before.isSameFile(as: look()))
  }
}
