import SystemCalls
import Testing

@testable import ActionRunning

struct ActivityLogTests {
  /// Milliseconds since the beginning of the run.
  private static func time(_ milliseconds: Int) -> FileTime {
    FileTime(nanoseconds: Int64(10_000 + milliseconds) * 1_000_000)
  }

  private static func look(
    _ time: Int, bytes: UInt64 = 0, processes: UInt64 = 1, newest: Int = 0
  ) -> ActivityLog.Look {
    ActivityLog.Look(
      time: Self.time(time),
      activity: ProcessActivity(
        writes: ProcessActivity.Writes(bytes: bytes, processes: processes),
        newestStart: Self.time(newest)))
  }

  private func evidence(
    _ looks: [ActivityLog.Look], at time: Int?, isContent: Bool = true,
    _ now: ActivityLog.Look?, former: Int? = nil
  ) -> Evidence {
    var log = ActivityLog(began: Self.time(0))
    for look in looks {
      if let former, look.time >= Self.time(former) {
        log.note(changedAt: Self.time(former))
      }
      log.add(look)
    }
    return log.evidence(
      aboutChangeAt: time.map(Self.time), isContent: isContent, now)
  }

  @Test func `a change is innocent if the run has not written since a look before it`() {
    let looks = [Self.look(50, bytes: 9), Self.look(300, bytes: 9)]
    #expect(evidence(looks, at: 400, Self.look(420, bytes: 9)) == .innocent)
    #expect(evidence(looks, at: 400, Self.look(420, bytes: 10)) != .innocent)
    // The look is after the change.
    #expect(evidence(looks, at: 40, Self.look(420, bytes: 9)) != .innocent)
  }

  @Test func `removals and changes of attributes are never innocent, as they are not counted`() {
    let looks = [Self.look(50), Self.look(300)]
    #expect(evidence(looks, at: 400, isContent: false, Self.look(420)) != .innocent)
    #expect(evidence(looks, at: nil, isContent: false, Self.look(420)) == .unknownTime)
  }

  @Test func `a run that starts or ends processes after the change prepares its start`() {
    let looks = [Self.look(300)]
    let started = Self.look(420, bytes: 9, processes: 2, newest: 410)
    #expect(evidence(looks, at: 400, started) == .launching)
    let later = Self.look(1500, bytes: 9, processes: 2, newest: 410)
    #expect(evidence(looks, at: 400, later) == .launched)
    let ended = Self.look(1500, bytes: 9, processes: 3)
    #expect(evidence(looks, at: 400, ended) == .launched)
  }

  private func bits(_ looks: [ActivityLog.Look], at time: Int, former: Int? = nil) -> Double {
    let now = Self.look(time + 10, bytes: 99)
    guard case .wrote(let bits) = evidence(looks, at: time, now, former: former) else { return -1 }
    return bits
  }

  @Test func `the less often a run writes, the more bits of evidence is a write`() {
    let quiet = (0...20).map { Self.look($0 * 100) }
    #expect((5...8).contains(bits(quiet, at: 2010)))
    let busy = (0...20).map { Self.look($0 * 100, bytes: UInt64($0)) }
    #expect((1...3).contains(bits(busy, at: 2010)))
    #expect((0...1).contains(bits(busy, at: 2400)))
  }

  @Test func `the longer ago the look before the change, the less a write proves`() {
    let looks = [Self.look(50), Self.look(300)]
    #expect(bits(looks, at: 310) > bits(looks, at: 400))
    #expect(bits(looks, at: 3000) < 1)
  }

  @Test func `what it wrote with another change of the path does not count`() {
    let looks = (0...20).map { Self.look($0 * 100, bytes: $0 < 7 ? 0 : 5) }
    #expect(bits(looks, at: 2010, former: 650) > bits(looks, at: 2010) + 0.5)
  }

  @Test func `before the first look, a run has written nothing when it began`() {
    let looks = [Self.look(50, bytes: 9)]
    #expect(evidence(looks, at: 40, Self.look(60, bytes: 0)) == .innocent)
    #expect(evidence([], at: 40, Self.look(45)) == .innocent)
    #expect(evidence(looks, at: 40, Self.look(60, bytes: 9)) != .innocent)
    #expect(evidence([], at: 40, Self.look(60, newest: 50)) == .launching)
  }

  @Test func `only a file that is not larger than what was written since may be of the run`() {
    var log = ActivityLog(began: Self.time(0))
    log.add(Self.look(50, bytes: 1000))
    func mayHaveWritten(_ size: UInt64, at time: Int) -> Bool? {
      log.mayHaveWritten(size: size, changedAt: Self.time(time), Self.look(1010, bytes: 1300))
    }
    #expect(mayHaveWritten(300, at: 1000) == true)
    #expect(mayHaveWritten(301, at: 1000) == false)
    // The first part of the file may have been written before the look.
    #expect(mayHaveWritten(1300, at: 500) == true)
    #expect(mayHaveWritten(1301, at: 500) == false)
    #expect(mayHaveWritten(1, at: -1) == false)
    #expect(log.mayHaveWritten(size: 1, changedAt: Self.time(100), nil) == nil)
  }

  @Test func `a memory map, or a child that is not reaped, may have written more`() {
    let log = ActivityLog(began: Self.time(0))
    func mayHaveWritten(_ size: UInt64, dirtied: UInt64 = 0, isIncomplete: Bool = false) -> Bool? {
      let now = ProcessActivity(
        writes: ProcessActivity.Writes(bytes: 10), dirtied: dirtied, isIncomplete: isIncomplete,
        newestStart: Self.time(0))
      return log.mayHaveWritten(
        size: size, changedAt: Self.time(100), ActivityLog.Look(time: Self.time(110), activity: now)
      )
    }
    #expect(mayHaveWritten(1_000_000, dirtied: 1_003_520) == true)
    #expect(mayHaveWritten(100, dirtied: 4096) == false)
    #expect(mayHaveWritten(100, isIncomplete: true) == true)
  }

  @Test func `where the kernel tells nothing, nothing is known`() {
    #expect(evidence([Self.look(100)], at: 250, nil) == .none)
    #expect(evidence([Self.look(100)], at: -1, Self.look(260, bytes: 9)) == .before)
  }

  @Test func `a run is steady while it has the same processes`() {
    var log = ActivityLog(began: Self.time(0))
    for time in [50, 100, 150] { log.add(Self.look(time)) }
    #expect(log.isSteady)
    log.add(Self.look(200, processes: 2))
    #expect(!log.isSteady)
  }
}
