import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct FingerprintTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    try folder.write("one", to: "f")
  }

  private func look(_ name: String = "f") throws -> Fingerprint {
    Fingerprint(try FileStatus(of: folder[name]))
  }

  @Test func `nothing has happened between two looks`() throws {
    #expect(try look().difference(to: try look()) == nil)
  }

  @Test func `a write is a difference of content, also of the same size`() async throws {
    let before = try look()
    #expect(await clockTicks())
    try folder.write("two", to: "f")
    #expect(before.difference(to: try look()) == .content)
    #expect(before.isOneFile(with: try look()))
    #expect(try !before.holdsTheSame(as: look()))
  }

  @Test func `a change of mode is one of attributes`() async throws {
    let before = try look()
    #expect(await clockTicks())
    try folder.setMode(0o600, of: "f")
    #expect(before.difference(to: try look()) == .attributes)
  }

  @Test func `a change time that nothing visible has moved is a difference of content`()
    async throws
  {
    let before = try look()
    #expect(await clockTicks())
    try folder.write("two", to: "f")
    // The times are set back, as by `touch -r`.
    try await shell("touch -d @1 f; touch -d @1 g", in: folder.path)
    let early = try look()
    #expect(await clockTicks())
    try folder.write("six", to: "f")
    try await shell("touch -d @1 f", in: folder.path)
    #expect(early.difference(to: try look()) == .content)
    #expect(early.holdsTheSame(as: try look()))
    #expect(before.difference(to: early) == .content)
  }

  @Test func `a file under another name is the same, a new one of the same inode is not`() throws {
    let before = try look()
    try folder.rename("f", to: "g")
    #expect(before.isSameFile(as: try look("g")))
    try folder.remove("g")
    try folder.write("one", to: "f")
    #expect(try !before.isSameFile(as: look()))
  }
}
