import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Saves in virtual time that are written twice, and when the bursts end.
struct FollowUpTests {
  private static let path: Path = "/p/main.c"
  private static let write = RawEvent(path: path, kind: .modified(isOpen: false), type: .file)

  // MARK: Learning

  @Test(arguments: [30, 60, 100])
  func `from the third save on, a file that is written twice is one burst`(gap: Int) {
    var editor = Editor()
    let ends = (0..<5).map { _ in editor.save(after: [0, gap]) }
    #expect(ends.map(\.count) == [2, 2, 1, 1, 1])
  }

  @Test func `a burst ends 10 ms after the usual second write`() {
    var editor = Editor()
    let ends = (0..<3).map { _ in editor.save(after: [0, 50]) }
    #expect(ends.last == [60])
  }

  @Test func `a third write is awaited from the third save on`() {
    var editor = Editor()
    let ends = (0..<4).map { _ in editor.save(after: [0, 40, 90]) }
    #expect(ends.map(\.count) == [2, 2, 1, 1])
    let pair = (0..<2).map { _ in editor.save(after: [0, 40]) }
    #expect(pair == [[120], [50]])
  }

  @Test func `a second write that comes after the wait makes the next wait longer`() {
    var editor = Editor()
    for _ in 0..<2 { _ = editor.save(after: [0, 30]) }
    #expect(editor.save(after: [0, 80]).count == 2)
    #expect(editor.save(after: [0, 80]).count == 1)
  }

  @Test func `no wait for a second write is longer than 110 ms`() {
    var editor = Editor()
    for _ in 0..<5 { _ = editor.save(after: [0, 110]) }
    #expect(editor.save(after: [0]) == [110])
    var slow = Editor()
    for _ in 0..<5 { _ = slow.save(after: [0, 111]) }
    #expect(slow.save(after: [0]) == [10])
  }

  @Test func `two writes in one burst teach nothing`() {
    var editor = Editor()
    for _ in 0..<5 { #expect(editor.save(after: [0, 9]) == [27]) }
    #expect(editor.save(after: [0]) == [10])
  }

  @Test func `a file that is not written twice does not wait, though others are`() {
    var editor = Editor()
    for _ in 0..<5 { _ = editor.save(after: [0, 50]) }
    #expect(editor.save(after: [0], path: "/p/other.c") == [10])
  }

  @Test func `a change of another file after a save teaches nothing`() {
    var editor = Editor()
    for _ in 0..<5 {
      let output = RawEvent(path: "/p/main.o", kind: .created, type: .file)
      _ = editor.play([(0, [Self.write]), (30, [output])])
    }
    #expect(editor.save(after: [0]) == [10])
  }

  @Test func `a change of metadata is no second write`() {
    var editor = Editor()
    for _ in 0..<5 {
      let touch = RawEvent(path: Self.path, kind: .metadata, type: .file)
      _ = editor.play([(0, [Self.write]), (30, [touch])])
    }
    #expect(editor.save(after: [0]) == [10])
  }

  // MARK: Directories

  @Test func `a temporary file that is renamed 100 ms later is awaited`() {
    var editor = Editor()
    let ends = (0..<4).map { number -> [Int] in
      let temporary = Path("/p/.main.c.\(number)")
      return editor.play([
        (0, [RawEvent(path: temporary, kind: .created, type: .file)]),
        (100, [RawEvent(path: temporary, kind: .removed, type: .file), Self.write]),
      ])
    }
    #expect(ends.map(\.count) == [2, 2, 1, 1])
    #expect(ends.last == [110])
  }

  @Test func `files that are copied with pauses are awaited`() {
    var editor = Editor()
    let ends = (0..<4).map { _ -> [Int] in
      editor.play(
        (0..<20).map { index in
          let temporary = Path("/p/deep/.f\(index).x")
          let file = Path("/p/deep/f\(index)")
          return (
            index * 25,
            [
              RawEvent(path: temporary, kind: .created, type: .file),
              RawEvent(path: temporary, kind: .removed, type: .file),
              RawEvent(path: file, kind: .modified(isOpen: false), type: .file),
            ]
          )
        })
    }
    #expect(ends.map(\.count) == [2, 2, 1, 1])
  }

  @Test func `a second write of a file teaches nothing about other files beside it`() {
    var editor = Editor()
    let backup = RawEvent(path: "/p/main.c~", kind: .created, type: .file)
    for _ in 0..<5 { _ = editor.play([(0, [Self.write, backup]), (50, [Self.write])]) }
    let other = RawEvent(path: "/p/other.c", kind: .modified(isOpen: false), type: .file)
    #expect(editor.play([(0, [other, backup])]) == [10])
  }

  // MARK: Waits in vain

  @Test func `a wait in vain that was never proved ends the waiting`() {
    var editor = Editor()
    for _ in 0..<2 { _ = editor.save(after: [0, 40]) }
    #expect((0..<3).map { _ in editor.save(after: [0]) } == [[80], [10], [10]])
  }

  @Test func `three waits in vain end the waiting for a file that was always written twice`() {
    var editor = Editor()
    for _ in 0..<20 { _ = editor.save(after: [0, 40]) }
    #expect((0..<5).map { _ in editor.save(after: [0]) } == [[80], [80], [80], [10], [10]])
  }

  @Test func `a formatter that sometimes has nothing to do is still awaited`() {
    var editor = Editor()
    for _ in 0..<5 { _ = editor.save(after: [0, 40]) }
    var counts: [Int] = []
    for number in 0..<30 {
      counts.append(editor.save(after: number % 3 == 0 ? [0] : [0, 40]).count)
    }
    #expect(counts.allSatisfy { $0 == 1 })
  }

  @Test func `a second write that the run makes is awaited ever more seldom`() {
    var editor = Editor()
    var waits = 0
    for _ in 0..<1000 { waits += editor.saveWithRun(writingAfter: 20) > 10 ? 1 : 0 }
    // One wait is too short, the next is not; then after 4, 8, 16, … 512 follow-ups.
    #expect(waits == 9)
  }

  // MARK: Limits

  @Test func `no more than 128 files are remembered, and the latest are`() {
    var editor = Editor()
    let paths = (0..<129).map { Path("/p/\($0)") }
    for path in paths { for _ in 0..<2 { _ = editor.save(after: [0, 40], path: path) } }
    // The first is forgotten, and the second is not.
    #expect(editor.save(after: [0, 40], path: paths[1]).count == 1)
    #expect(editor.save(after: [0, 40], path: paths[0]).count == 2)
  }

  @Test func `the first 16 paths of a burst are learned`() {
    var editor = Editor()
    let burst = (0..<17).map {
      RawEvent(path: Path("/p/\($0)"), kind: .modified(isOpen: false), type: .file)
    }
    for _ in 0..<3 { _ = editor.play([(0, burst), (40, burst)]) }
    #expect(editor.save(after: [0], path: "/p/15") == [80])
    #expect(editor.save(after: [0], path: "/p/16") == [10])
  }

  @Test(arguments: [0, 50])
  func `a fixed quiet period learns nothing`(period: Int) {
    var editor = Editor(quietPeriod: .fixed(.milliseconds(period)))
    let ends = (0..<5).map { _ in editor.save(after: [0, 80]) }
    #expect(ends.allSatisfy { $0 == [period, 80 + period] })
  }

  @Test func `the maximum wait cuts a wait for a second write`() {
    var editor = Editor(maximumWait: .milliseconds(30))
    for _ in 0..<2 { _ = editor.save(after: [0, 40]) }
    #expect(editor.save(after: [0]) == [30])
    #expect(editor.save(after: [0]) == [10])
  }

  @Test func `a flush during a wait delivers, and the burst goes on`() {
    var editor = Editor()
    for _ in 0..<3 { _ = editor.save(after: [0, 40]) }
    #expect(editor.play([(0, [Self.write]), (20, []), (40, [Self.write])]) == [50])
    #expect(editor.partCount == 1)
  }
}

/// Plays changes against a machine with perfect timers.
private struct Editor {
  private var machine: DebounceStateMachine
  private var now = Instant(offset: .zero)
  private var timer: (time: Instant, generation: Int)?
  private var ends: [Instant] = []
  private(set) var partCount = 0

  init(quietPeriod: QuietPeriod = .adaptive, maximumWait: Duration = .seconds(1)) {
    machine = DebounceStateMachine(quietPeriod: quietPeriod, maximumWait: maximumWait)
  }

  /// Writes a file at some milliseconds. Returns those at which bursts end.
  mutating func save(after times: [Int], path: Path = "/p/main.c") -> [Int] {
    play(times.map { ($0, [RawEvent(path: path, kind: .modified(isOpen: false), type: .file)]) })
  }

  /// Plays batches of events, and a flush for each that is empty. Two seconds pass then.
  mutating func play(_ batches: [(time: Int, events: [RawEvent])]) -> [Int] {
    let start = now
    ends = []
    for batch in batches {
      advance(to: start.advanced(by: .milliseconds(batch.time)))
      if batch.events.isEmpty {
        perform(machine.flush(at: now))
      } else {
        perform(machine.changed(at: now, batch.events))
      }
    }
    advance(to: now.advanced(by: .seconds(2)))
    return ends.map { Int(start.duration(to: $0) / .milliseconds(1)) }
  }

  /// Saves a file, which a run writes again some milliseconds after the burst has ended. Returns how
  /// long the run was delayed.
  mutating func saveWithRun(writingAfter delay: Int) -> Int {
    let write = RawEvent(path: "/p/main.c", kind: .modified(isOpen: false), type: .file)
    let start = now
    ends = []
    perform(machine.changed(at: now, [write]))
    while ends.isEmpty, let timer { advance(to: timer.time) }
    let waited = Int(start.duration(to: now) / .milliseconds(1))
    advance(to: now.advanced(by: .milliseconds(delay)))
    perform(machine.changed(at: now, [write]))
    advance(to: now.advanced(by: .seconds(2)))
    return waited
  }

  private mutating func advance(to end: Instant) {
    while let timer, timer.time <= end {
      now = timer.time
      self.timer = nil
      perform(machine.timerFired(generation: timer.generation, at: now))
    }
    now = end
  }

  private mutating func perform(_ action: DebounceStateMachine.Action) {
    switch action {
    case .none: break
    case .schedule(let time, let generation): timer = (time, generation)
    case .deliver: partCount += 1
    case .fire: (timer, ends) = (nil, ends + [now])
    }
  }
}
