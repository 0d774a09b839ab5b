import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct RacilyCleanFilesTests {
  private let directory: TemporaryDirectory
  private let status: FileStatus
  private let one = ContentDigest(high: 1, low: 1)
  private let two = ContentDigest(high: 2, low: 2)

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("x", to: "f")
    status = try FileStatus(of: directory["f"])
  }

  /// A time after the file's last change.
  private func later(_ milliseconds: Int64) -> FileTime {
    FileTime(nanoseconds: status.changed.nanoseconds + milliseconds * 1_000_000)
  }

  @Test func `a file without a recent change is not read`() {
    var files = RacilyCleanFiles()
    let isChanged = files.isRewritten(at: "f", status, now: later(100)) {
      Issue.record("it was read")
      return one
    }
    #expect(!isChanged && files.contents.count == 0)
  }

  @Test func `other content with the same timestamps is found in the next scan, once`() {
    var files = RacilyCleanFiles()
    #expect(!files.isRewritten(at: "f", status, now: later(1)) { one })
    #expect(files.isRewritten(at: "f", status, now: later(200)) { two })
    #expect(files.contents.count == 0)
    #expect(!files.isRewritten(at: "f", status, now: later(400)) { one })
  }

  @Test func `the same content is no change`() {
    var files = RacilyCleanFiles()
    #expect(!files.isRewritten(at: "f", status, now: later(1)) { one })
    #expect(!files.isRewritten(at: "f", status, now: later(2)) { one })
    #expect(files.isRewritten(at: "f", status, now: later(3)) { two })
  }

  @Test func `an unreadable file is treated as changed`() {
    var files = RacilyCleanFiles()
    #expect(!files.isRewritten(at: "f", status, now: later(1)) { nil })
    #expect(files.isRewritten(at: "f", status, now: later(200)) { nil })
  }

  @Test func `an unreadable file whose time is ahead of the clock counts once`() {
    var files = RacilyCleanFiles()
    let looks = [1, 2, 3, 200, 201].map {
      files.isRewritten(at: "f", status, now: later($0)) { nil }
    }
    #expect(looks == [false, false, false, true, false])
  }

  @Test func `timestamps in whole seconds are not trusted for two seconds`() async throws {
    try await shell("touch -d @1000 f", in: directory.path)
    var files = RacilyCleanFiles()
    let status = try FileStatus(of: directory["f"])
    // The ctime is not a whole second, so it is trusted after some clock ticks.
    let now = FileTime(nanoseconds: status.changed.nanoseconds + 1_000_000_000)
    #expect(!files.isRewritten(at: "f", status, now: now) { one })
    #expect(files.contents.count == (status.changed.nanoseconds % 1_000_000_000 == 0 ? 1 : 0))
  }

  @Test func `removed files are forgotten`() {
    var files = RacilyCleanFiles()
    #expect(!files.isRewritten(at: "f", status, now: later(1)) { one })
    files.forget("f")
    #expect(!files.isRewritten(at: "f", status, now: later(200)) { two })
  }
}
