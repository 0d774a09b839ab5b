import Testing

@testable import FileObservation

struct ExaminationPacingTests {
  @Test func `what fails again is examined less and less often, and after a success soon`() {
    var pacing = ExaminationPacing()
    #expect(pacing.plan(isNeeded: false) == nil)
    var delays: [Duration] = []
    for _ in 0..<9 {
      delays += [pacing.plan(isNeeded: true)].compactMap { $0 }
      #expect(pacing.plan(isNeeded: true) == nil, "it is planned")
      pacing.begin()
    }
    #expect(delays.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(delays.count == 9 && delays.last == .seconds(10))
    #expect(pacing.plan(isNeeded: false) == nil)
    #expect(pacing.plan(isNeeded: true) == .milliseconds(100))
  }
}
