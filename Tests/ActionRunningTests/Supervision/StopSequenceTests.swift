import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

struct StopSequenceTests {
  private func sequence(
    _ signal: Signal = .terminate, timeout: Duration = .seconds(10), leaderIsAlive: Bool = true
  ) -> StopSequence {
    StopSequence(
      StopPlan(signal: signal, timeout: timeout), leaderIsAlive: leaderIsAlive,
      at: .milliseconds(0))
  }

  @Test func `a stop signal is followed by SIGCONT, and a check after the grace period`() {
    var sequence = sequence()
    let actions = sequence.begin(at: .milliseconds(0))
    #expect(actions == [.send(.terminate), .send(.continue), .check(at: .milliseconds(10_000))])
  }

  @Test func `a leader's end is followed by a check at once, and then at growing intervals`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(sequence.leaderEnded(at: .milliseconds(5)) == [.check(at: .milliseconds(5))])
    var (now, pauses) = (5, [Int]())
    for _ in 0..<8 {
      guard
        case .check(let time) = sequence.checked(groupIsAlive: true, at: .milliseconds(now)).first
      else { break }
      let next = Int(time.offset.nanoseconds / 1_000_000)
      pauses.append(next - now)
      now = next
    }
    #expect(pauses == [1, 2, 4, 8, 16, 20, 20, 20])
    #expect(sequence.checked(groupIsAlive: false, at: .milliseconds(now)) == [.finish])
  }

  @Test func `a group without living members is not gone until its leader is reaped`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.checked(groupIsAlive: false, at: .milliseconds(1))
        == [.check(at: .milliseconds(10_000))])
  }

  @Test func `a group is killed after the grace period, and reported two seconds later`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.checked(groupIsAlive: true, at: .milliseconds(10_000))
        == [.kill, .check(at: .milliseconds(12_000))])
    #expect(
      sequence.checked(groupIsAlive: true, at: .milliseconds(12_000)) == [.reportStuck])
  }

  @Test func `the last check is not after the end of the grace period`() {
    var sequence = sequence(leaderIsAlive: false)
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.checked(groupIsAlive: true, at: .milliseconds(9_999))
        == [.check(at: .milliseconds(10_000))])
  }

  @Test(arguments: [(Signal.kill, Duration.seconds(10)), (.terminate, .zero)])
  func `a plan without a grace period kills at once`(signal: Signal, timeout: Duration) {
    var sequence = sequence(signal, timeout: timeout)
    let actions = sequence.begin(at: .milliseconds(0))
    #expect(actions == [.kill, .check(at: .milliseconds(2000))])
  }

  @Test func `a group is killed once`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(sequence.kill(at: .milliseconds(1)).first == .kill)
    #expect(sequence.kill(at: .milliseconds(2)) == [])
  }
}
