import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// What looks at the processes prove about changes of real files, whose times the kernel has set.
struct ActivityLogTests {
  private typealias Subject = ActivityLog.Subject

  private let directory: TemporaryDirectory
  private var log = ActivityLog()

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("content", to: "f")
  }

  private func subject(_ name: String = "f") throws -> Subject {
    Subject(isRemoval: false, status: try FileStatus(of: directory[name]))
  }

  private static let removal = Subject(isRemoval: true, status: nil, isAlone: true)

  private func changed(_ name: String = "f") throws -> FileTime {
    try FileStatus(of: directory[name]).changed
  }

  /// Looks so many milliseconds after a time, in an instant unless it takes longer.
  private mutating func look(
    _ milliseconds: Int, after time: FileTime, taking duration: Int = 0, bytes: UInt64 = 0,
    processes: UInt64 = 1, switches: UInt64 = 0, isRunning: Bool = false, beginsBurst: Bool = false
  ) {
    let writes = ProcessActivity.Writes(bytes: bytes, processes: processes)
    log.add(
      ProcessActivity(writes: writes, switches: switches, isRunning: isRunning),
      began: time.advanced(by: .milliseconds(milliseconds)),
      ended: time.advanced(by: .milliseconds(milliseconds + duration)), beginsBurst: beginsBurst)
  }

  private func verdict(_ subject: Subject) -> Verdict {
    log.evidence(about: subject)
  }

  // MARK: Idle processes

  @Test mutating func `if no thread has run between the looks, others have made any change`() throws
  {
    try directory.makeDirectories("d")
    try directory.write("", to: "empty")
    try directory.link("link", to: "f")
    for name in ["f", "d", "empty", "link"] {
      log = ActivityLog()
      look(-10, after: try changed(name), bytes: 5, switches: 7)
      look(20, after: try changed(name), bytes: 5, switches: 7)
      #expect(verdict(try subject(name)) == .others)
    }
  }

  @Test mutating func `if a process has run, it may have changed what is no content`() throws {
    try directory.makeDirectories("d")
    try directory.write("", to: "empty")
    try directory.link("link", to: "f")
    for name in ["d", "empty", "link"] {
      log = ActivityLog()
      look(-10, after: try changed(name), switches: 7)
      look(20, after: try changed(name), switches: 8)
      #expect(verdict(try subject(name)) == .unknown)
    }
  }

  @Test mutating func `a process that has started or ended may have changed anything`() throws {
    look(-10, after: try changed(), processes: 1)
    look(20, after: try changed(), processes: 2)
    #expect(verdict(try subject()) == .unknown)
  }

  @Test mutating func `a directory is changed from its creation to its last change`() throws {
    try directory.makeDirectories("d")
    let status = try FileStatus(of: directory["d"])
    let born = try #require(status.born)
    // The file clock moves on.
    while try changed("d") <= born.advanced(by: .milliseconds(40)) {
      try directory.write("x", to: "d/a")
      try directory.remove("d/a")
    }
    look(-10, after: born, switches: 1)
    look(20, after: born, switches: 2)
    look(20, after: try changed("d"), switches: 2)
    #expect(verdict(try subject("d")) == .unknown)
  }

  // MARK: Writes

  @Test mutating func `if nothing was written between the looks, others have written the content`()
    throws
  {
    look(-10, after: try changed(), bytes: 5, switches: 7)
    look(20, after: try changed(), bytes: 5, switches: 99)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `if anything was written between the looks, nothing is proved`() throws {
    look(-10, after: try changed(), bytes: 5, switches: 7)
    look(20, after: try changed(), bytes: 6, switches: 99)
    #expect(verdict(try subject()) == .unknown)
  }

  @Test mutating func `a change of attributes is no content, unless a look is before the content`()
    throws
  {
    let written = try FileStatus(of: directory["f"]).modified
    while try changed() <= written.advanced(by: .milliseconds(40)) {
      try directory.setMode(0o600, of: "f")
      try directory.setMode(0o644, of: "f")
    }
    look(20, after: written, switches: 1)
    look(20, after: try changed(), switches: 2)
    #expect(verdict(try subject()) == .unknown)
    log = ActivityLog()
    look(-10, after: written, switches: 1)
    look(20, after: written, switches: 2)
    look(20, after: try changed(), switches: 3)
    #expect(verdict(try subject()) == .others)
  }

  // MARK: Removals

  @Test mutating func `a removal was at most 50 ms before the first report of the burst`() throws {
    let time = FileTime.now()
    for (before, expected) in [(-51, Verdict.others), (-49, .unknown)] {
      log = ActivityLog()
      look(before, after: time)
      look(0, after: time, beginsBurst: true)
      #expect(verdict(Self.removal) == expected)
    }
  }

  @Test
  mutating func `a process that has run since may have removed it, although it wrote nothing`()
    throws
  {
    let time = FileTime.now()
    look(-100, after: time)
    look(0, after: time, switches: 1, beginsBurst: true)
    #expect(verdict(Self.removal) == .unknown)
  }

  @Test mutating func `a removal without a burst proves nothing`() throws {
    look(-100, after: .now())
    look(100, after: .now())
    #expect(verdict(Self.removal) == .unknown)
  }

  @Test mutating func `a path that no longer exists counts as removed`() throws {
    let time = FileTime.now()
    look(-100, after: time)
    look(0, after: time, beginsBurst: true)
    look(20, after: time)
    #expect(verdict(Subject(isRemoval: false, status: nil, isAlone: true)) == .others)
    // A file in its place may have been written at any time before.
    #expect(
      verdict(Subject(isRemoval: true, status: try subject().status, isAlone: true)) == .others)
  }

  // MARK: Looks

  @Test mutating func `without a look before the change, or after it, nothing is known`() throws {
    let time = try changed()
    look(20, after: time)
    look(20, after: time)
    #expect(verdict(try subject()) == .unknown)
    log = ActivityLog()
    look(-20, after: time)
    look(-10, after: time)
    #expect(verdict(try subject()) == .unknown)
    #expect(ActivityLog().evidence(about: try subject()) == Verdict.unknown)
  }

  @Test mutating func `a look during which the change was made is neither before nor after it`()
    throws
  {
    let time = try changed()
    look(-10, after: time, taking: 20)
    look(30, after: time)
    #expect(verdict(try subject()) == .unknown)
    log = ActivityLog()
    look(-30, after: time)
    look(-10, after: time, taking: 20)
    #expect(verdict(try subject()) == .unknown)
    look(30, after: time)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `while a thread runs, what was done before a look is not counted yet`() throws
  {
    let time = try changed()
    look(-10, after: time)
    look(20, after: time, isRunning: true)
    #expect(verdict(try subject()) == .unknown)
    look(20, after: time)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `the first complete look after the change decides`() throws {
    let time = try changed()
    look(-10, after: time)
    look(20, after: time)
    look(20, after: time, bytes: 9, switches: 9)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `the last look before the change decides`() throws {
    let time = try changed()
    look(-20, after: time)
    look(-10, after: time, bytes: 9, switches: 9)
    look(20, after: time, bytes: 9, switches: 9)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `of many equal looks the first and the last are kept`() throws {
    let time = try changed()
    look(-2000, after: time, bytes: 1, switches: 1)
    for number in 0..<500 { look(-1000 + 4 * number, after: time, bytes: 2, switches: 2) }
    // The change is between the first of them and the last.
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `of different looks the last 64 are kept`() throws {
    for count in [62, 63] {
      log = ActivityLog()
      let time = try changed()
      look(-10, after: time)
      look(20, after: time)
      for number in 0..<count { look(20 + number, after: time, switches: UInt64(number + 1)) }
      #expect(verdict(try subject()) == (count == 62 ? .others : .unknown))
    }
  }

  // MARK: Systems that do not tell

  @Test mutating func `a look that fails proves nothing, and makes nobody blind`() throws {
    let time = try changed()
    look(-10, after: time)
    log.add(nil, began: time, ended: time)
    #expect(!log.isBlind)
    look(20, after: time)
    #expect(verdict(try subject()) == .others)
  }

  @Test mutating func `where the kernel tells nothing, nothing is known`() throws {
    let time = try changed()
    #expect(log.isBlind)
    for milliseconds in -20..<0 {
      let moment = time.advanced(by: .milliseconds(milliseconds))
      log.add(nil, began: moment, ended: moment)
    }
    #expect(log.isBlind)
    #expect(log.evidence(about: try subject()) == Verdict.unknown)
    look(30, after: time)
    #expect(!log.isBlind)
    #expect(verdict(try subject()) == .unknown)
    for _ in 0..<9 { log.add(nil, began: time, ended: time) }
    #expect(log.isBlind)
  }
}
