import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

struct StopSequenceTests {
  private func sequence(
    _ signal: Signal = .terminate, _ timeout: Duration = .seconds(10), leaderIsAlive: Bool = true
  ) -> StopSequence {
    StopSequence(
      StopPlan(signal: signal, timeout: timeout), leaderIsAlive: leaderIsAlive,
      at: .milliseconds(0))
  }

  @Test func `asks, wakes what is stopped, and waits until the time is up`() {
    var sequence = sequence()
    let actions = sequence.begin(at: .milliseconds(0))
    #expect(actions == [.send(.terminate), .send(.continue), .look(at: .milliseconds(10_000))])
  }

  @Test func `a leader's end is followed by a look at once, and then at growing intervals`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(sequence.leaderEnded(at: .milliseconds(5)) == [.look(at: .milliseconds(5))])
    var (now, pauses) = (5, [Int]())
    for _ in 0..<8 {
      guard
        case .look(let time) = sequence.looked(groupIsAlive: true, at: .milliseconds(now)).first
      else { break }
      let next = Int(time.offset.nanoseconds / 1_000_000)
      pauses.append(next - now)
      now = next
    }
    #expect(pauses == [1, 2, 4, 8, 16, 20, 20, 20])
    #expect(sequence.looked(groupIsAlive: false, at: .milliseconds(now)) == [.finish])
  }

  @Test func `a group that is gone is not waited for while its leader is to be reaped`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.looked(groupIsAlive: false, at: .milliseconds(1))
        == [.look(at: .milliseconds(10_000))])
  }

  @Test func `kills when the time is up, and gives up when even that does not help`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.looked(groupIsAlive: true, at: .milliseconds(10_000))
        == [.send(.kill), .look(at: .milliseconds(12_000))])
    #expect(
      sequence.looked(groupIsAlive: true, at: .milliseconds(12_000)) == [.abandon, .finish])
  }

  @Test func `the last look before the time is up is not after it`() {
    var sequence = sequence(leaderIsAlive: false)
    _ = sequence.begin(at: .milliseconds(0))
    #expect(
      sequence.looked(groupIsAlive: true, at: .milliseconds(9_999))
        == [.look(at: .milliseconds(10_000))])
  }

  @Test(arguments: [(Signal.kill, Duration.seconds(10)), (.terminate, .zero)])
  func `a plan that gives no time kills at once`(signal: Signal, timeout: Duration) {
    var sequence = sequence(signal, timeout)
    let actions = sequence.begin(at: .milliseconds(0))
    #expect(actions == [.send(.kill), .look(at: .milliseconds(2000))])
  }

  @Test func `is killed once`() {
    var sequence = sequence()
    _ = sequence.begin(at: .milliseconds(0))
    #expect(sequence.kill(at: .milliseconds(1)).first == .send(.kill))
    #expect(sequence.kill(at: .milliseconds(2)) == [])
  }
}
