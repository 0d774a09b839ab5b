import Support
import Testing

@testable import WatchrunCommandLine

/// Who keeps changes from starting runs, in virtual time.
struct PauseTests {
  private var pause = Pause()

  private func at(_ seconds: Int) -> Instant { Instant(offset: .seconds(seconds)) }

  @Test mutating func `a hold ends after half a minute`() {
    #expect(pause.hold(for: nil, by: 1, at: at(0)) == .pause)
    #expect(pause.elapsed(at: at(29)) == nil)
    #expect(pause.elapsed(at: at(30)) == .resume)
    #expect(pause.hold == nil)
  }

  @Test mutating func `a hold lasts at most ten minutes, and can be prolonged`() {
    #expect(pause.hold(for: .seconds(86_400), by: 1, at: at(0)) == .pause)
    #expect(pause.hold?.until == at(600))
    #expect(pause.hold(for: .seconds(600), by: 1, at: at(10)) == nil)
    #expect(pause.elapsed(at: at(600)) == nil)
    #expect(pause.elapsed(at: at(610)) == .resume)
  }

  @Test mutating func `a shorter hold of another client changes nothing`() {
    _ = pause.hold(for: .seconds(60), by: 1, at: at(0))
    #expect(pause.hold(for: .seconds(5), by: 2, at: at(0)) == nil)
    #expect(pause.hold?.owner == 1)
    #expect(pause.release(of: 2) == nil)
    #expect(pause.release(of: 1) == .resume)
  }

  @Test mutating func `the user's pause and a hold end independently`() {
    #expect(pause.set(true) == .pause)
    #expect(pause.hold(for: nil, by: 1, at: at(0)) == nil)
    #expect(pause.release() == nil)
    #expect(pause.set(false) == .resume)
    #expect(pause.hold(for: nil, by: 1, at: at(0)) == .pause)
    #expect(pause.set(true) == nil && pause.set(false) == nil)
    #expect(pause.elapsed(at: at(30)) == .resume)
  }
}
