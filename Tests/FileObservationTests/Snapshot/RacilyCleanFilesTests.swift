import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct RacilyCleanFilesTests {
  private let folder: TemporaryDirectory
  private let status: FileStatus
  private let one = ContentDigest(high: 1, low: 1)
  private let two = ContentDigest(high: 2, low: 2)

  init() throws {
    folder = try TemporaryDirectory()
    try folder.write("x", to: "f")
    status = try FileStatus(of: folder["f"])
  }

  /// So long after the file's last change.
  private func later(_ milliseconds: Int64) -> FileTime {
    FileTime(nanoseconds: status.changed.nanoseconds + milliseconds * 1_000_000)
  }

  @Test func `a file that has not changed of late is not read`() {
    var files = RacilyCleanFiles()
    let isChanged = files.look(at: "f", status, now: later(100)) {
      Issue.record("it was read")
      return one
    }
    #expect(!isChanged && files.count == 0)
  }

  @Test func `other content with the same times is found on the next look, once`() {
    var files = RacilyCleanFiles()
    #expect(!files.look(at: "f", status, now: later(1)) { one })
    #expect(files.look(at: "f", status, now: later(200)) { two })
    #expect(files.count == 0)
    #expect(!files.look(at: "f", status, now: later(400)) { one })
  }

  @Test func `the same content is no change`() {
    var files = RacilyCleanFiles()
    #expect(!files.look(at: "f", status, now: later(1)) { one })
    #expect(!files.look(at: "f", status, now: later(2)) { one })
    #expect(files.look(at: "f", status, now: later(3)) { two })
  }

  @Test func `what cannot be read counts as changed`() {
    var files = RacilyCleanFiles()
    #expect(!files.look(at: "f", status, now: later(1)) { nil })
    #expect(files.look(at: "f", status, now: later(200)) { nil })
  }

  @Test func `where only whole seconds are kept, two of them are not trusted`() async throws {
    try await shell("touch -d @1000 f", in: folder.path)
    var files = RacilyCleanFiles()
    let status = try FileStatus(of: folder["f"])
    // Its change time is not a whole second, though: it is trusted after some ticks.
    let now = FileTime(nanoseconds: status.changed.nanoseconds + 1_000_000_000)
    #expect(!files.look(at: "f", status, now: now) { one })
    #expect(files.count == (status.changed.nanoseconds % 1_000_000_000 == 0 ? 1 : 0))
  }

  @Test func `what is gone is forgotten`() {
    var files = RacilyCleanFiles()
    #expect(!files.look(at: "f", status, now: later(1)) { one })
    files.forget("f")
    #expect(!files.look(at: "f", status, now: later(200)) { two })
  }
}
