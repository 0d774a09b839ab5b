import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Random streams of changes in virtual time, with flushes and open files.
struct DebounceModelTests {
  @Test(arguments: (1...200).map { UInt64($0) })
  func `bursts keep their promises for random streams`(seed: UInt64) {
    check(seed: seed, paths: [])
  }

  @Test(arguments: (1...200).map { UInt64($0) })
  func `bursts keep their promises while follow-ups are learned`(seed: UInt64) {
    check(seed: seed, paths: ["/p/a", "/p/b", "/p/d/c"])
  }

  private func check(seed: UInt64, paths: [Path]) {
    var generator = SeededGenerator(seed: seed)
    let steps = Step.random(using: &generator)
    var model = Model(quietPeriod: .adaptive, paths: paths)
    for step in steps { model.play(step) }
    model.finish()
    if model.faults.isEmpty { return }
    Issue.record("\(model.faults.joined(separator: "; "))\n\(steps)")
  }

  @Test(arguments: (1...60).map { UInt64($0) })
  func `flushes do not change when bursts end`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let steps = Step.random(using: &generator)
    let model = Model(quietPeriod: .adaptive, paths: ["/p/a", "/p/b", "/p/d/c"])
    var (flushed, unflushed) = (model, model)
    for step in steps {
      flushed.play(step)
      if step.kind != .flush { unflushed.play(step) } else { unflushed.advance(by: step.pause) }
    }
    flushed.finish()
    unflushed.finish()
    #expect(flushed.ends == unflushed.ends)
  }

  @Test(arguments: 1...49)
  func `a steady stream is cut only by the longest wait once its gap is known`(gap: Int) {
    var model = Model(quietPeriod: .adaptive)
    for _ in 0..<(4000 / gap) {
      model.play(Step(pause: .milliseconds(gap), kind: .change(isBeingWritten: false)))
    }
    model.finish()
    // The first change alone, four seconds, and the end.
    #expect(model.ends.count <= 6)
  }

  @Test(arguments: (1...40).map { UInt64($0) })
  func `a steady stream with uneven gaps is seldom cut by silence`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let gap = Int.random(in: 1...60, using: &generator)
    var model = Model(quietPeriod: .adaptive)
    while model.now < .seconds(4) {
      let pause = Int.random(in: gap * 300...gap * 1600, using: &generator)
      model.play(Step(pause: .microseconds(pause), kind: .change(isBeingWritten: false)))
    }
    model.finish()
    #expect(model.ends.count <= 8)
  }
}

/// A pause, and what follows it.
private struct Step: CustomStringConvertible {
  enum Kind: Equatable {
    case change(isBeingWritten: Bool)
    case flush
  }

  let pause: Duration
  let kind: Kind

  var description: String { "\(pause) \(kind)" }

  /// Streams of different paces, isolated changes, and flushes in between.
  static func random(using generator: inout SeededGenerator) -> [Step] {
    var steps: [Step] = []
    for _ in 0..<12 {
      let pace =
        [20, 500, 4_000, 15_000, 40_000, 90_000, 150_000, 1_500_000]
        .randomElement(using: &generator) ?? 500
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        let pause = Duration.microseconds(Int.random(in: pace / 2...pace * 2, using: &generator))
        let isFlush = Int.random(in: 0..<6, using: &generator) == 0
        let isBeingWritten = Int.random(in: 0..<10, using: &generator) == 0
        steps.append(
          Step(pause: pause, kind: isFlush ? .flush : .change(isBeingWritten: isBeingWritten)))
      }
    }
    return steps
  }
}

/// A machine with perfect timers, and the observations from which its promises are checked.
private struct Model {
  private static let bounds = Duration.milliseconds(10)...Duration.milliseconds(100)
  private static let longestWait = Duration.seconds(1)

  private var machine: DebounceStateMachine
  /// The paths that change in turn; empty if follow-ups cannot be learned.
  private let paths: [Path]
  private var changeCount = 0
  private(set) var now = Instant(offset: .zero)
  private var timer: (time: Instant, generation: Int)?
  /// The number of changes that have not been delivered.
  private var undelivered = 0
  private var first: Instant?
  private var last: Instant?
  /// The pause before the first change of the burst.
  private var pauseBefore = Duration.seconds(1000)
  private var countInBurst = 0
  private var hasOpenFile = false
  private(set) var ends: [Instant] = []
  private(set) var faults: [String] = []

  init(quietPeriod: QuietPeriod, paths: [Path] = []) {
    self.paths = paths
    machine = DebounceStateMachine(quietPeriod: quietPeriod, maximumWait: Self.longestWait)
  }

  mutating func play(_ step: Step) {
    advance(by: step.pause)
    switch step.kind {
    case .change(let isBeingWritten):
      if first == nil {
        pauseBefore = last?.duration(to: now) ?? pauseBefore
        (first, countInBurst, hasOpenFile) = (now, 0, false)
      }
      (last, countInBurst, undelivered) = (now, countInBurst + 1, undelivered + 1)
      hasOpenFile = hasOpenFile || isBeingWritten
      changeCount += 1
      let events =
        paths.isEmpty
        ? []
        : [
          RawEvent(
            path: paths[changeCount / 2 % paths.count],
            kind: changeCount % 5 == 0 ? .created : .modified(isOpen: isBeingWritten), type: .file)
        ]
      perform(machine.changed(at: now, isBeingWritten: isBeingWritten, events))
    case .flush:
      perform(machine.flush(at: now))
      if undelivered > 0 { faults.append("a flush at \(now.offset) left changes undelivered") }
    }
  }

  mutating func advance(by pause: Duration) {
    let end = now.advanced(by: pause)
    while let timer, timer.time <= end {
      now = timer.time
      self.timer = nil
      perform(machine.timerFired(generation: timer.generation, at: now))
    }
    now = end
  }

  mutating func finish() {
    advance(by: .seconds(2))
    if undelivered > 0 { faults.append("\(undelivered) changes were lost") }
    if machine.isCollecting { faults.append("the last burst has not ended") }
    if timer != nil { faults.append("a timer is left") }
  }

  private mutating func perform(_ action: DebounceStateMachine.Action) {
    switch action {
    case .none:
      break
    case .schedule(let time, let generation):
      timer = (time, generation)
    case .deliver:
      if undelivered == 0 { faults.append("delivered nothing at \(now.offset)") }
      undelivered = 0
    case .fire:
      (timer, undelivered) = (nil, 0)
      checkEnd()
      ends.append(now)
      first = nil
    }
  }

  private mutating func checkEnd() {
    guard let first, let last else { return faults.append("an end without a burst") }
    let (length, silence) = (first.duration(to: now), last.duration(to: now))
    if length > Self.longestWait { faults.append("a burst of \(length)") }
    let longestSilence = Self.bounds.upperBound + (paths.isEmpty ? .zero : Self.bounds.lowerBound)
    if silence > longestSilence { faults.append("a silence of \(silence)") }
    if silence < Self.bounds.lowerBound && length < Self.longestWait {
      faults.append("an end after a silence of only \(silence)")
    }
    let isIsolated =
      paths.isEmpty && countInBurst == 1 && !hasOpenFile && pauseBefore > Self.bounds.upperBound * 2
    if isIsolated && silence != Self.bounds.lowerBound {
      faults.append("a single change waited for \(silence)")
    }
  }
}

extension Instant {
  fileprivate static func seconds(_ count: Int) -> Self { Self(offset: .seconds(count)) }
}
