import Support
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

struct FileReadingsTests {
  private static let file: Path = "/p/watchrun.json"

  /// What is started changes the file after these times. Returns when it is read.
  private func readings(
    for duration: Duration, after offset: () -> Duration
  ) -> [Duration] {
    var (readings, time, times) = (FileReadings(), Duration.zero, [Duration]())
    while time < duration {
      let now = Instant(offset: time)
      time += readings.changed(Self.file, at: now) ?? .zero
      _ = readings.take(at: Instant(offset: time))
      times.append(time)
      time += offset()
    }
    return times
  }

  @Test(arguments: [10, 120, 700, 3000])
  func `a file that each start changes is read at most twenty times in a minute`(time: Int) {
    var generator = SeededGenerator(seed: UInt64(time))
    let times = readings(for: .seconds(600)) {
      .milliseconds(time * Int.random(in: 90...110, using: &generator) / 100)
    }
    #expect(times.count { $0 < .seconds(60) } <= 20)
    #expect(times.count <= 60)
  }

  @Test func `a reading of nothing is none`() {
    var readings = FileReadings()
    for number in 0..<20 {
      let now = Instant(offset: .seconds(number))
      _ = readings.changed(Self.file, at: now)
      #expect(readings.take(at: now) == [Self.file])
      #expect(readings.take(at: now.advanced(by: .milliseconds(500))) == [])
    }
    #expect(readings.changed(Self.file, at: Instant(offset: .seconds(20))) != .zero)
  }

  @Test(arguments: 1...50)
  func `a person who edits the file hardly waits`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (readings, time) = (FileReadings(), Duration.zero)
    for _ in 0..<30 {
      time += .milliseconds(Int.random(in: 400...8000, using: &generator))
      let wait = readings.changed(Self.file, at: Instant(offset: time))
      #expect(wait.map { $0 <= .seconds(1) } == true)
      _ = readings.take(at: Instant(offset: time + (wait ?? .zero)))
    }
  }

  @Test func `a file that each start changes delays no other one`() {
    var (readings, time) = (FileReadings(), Duration.zero)
    var wait: Duration? = .zero
    while wait ?? .zero < .seconds(9) && time < .seconds(600) {
      time += .seconds(1)
      wait = readings.changed("/p/.env", at: Instant(offset: time))
      if wait ?? .zero < .seconds(9) { time += wait ?? .zero }
      if wait ?? .zero < .seconds(9) { _ = readings.take(at: Instant(offset: time)) }
    }
    #expect(wait ?? .zero >= .seconds(9))
    #expect(readings.changed(Self.file, at: Instant(offset: time)) == .zero)
  }

  @Test func `files that starts change in turn are read rarely in the end`() {
    var (readings, time, count) = (FileReadings(), Duration.zero, 0)
    while time < .seconds(600) {
      let file: Path = count % 2 == 0 ? Self.file : "/p/.env"
      time += readings.changed(file, at: Instant(offset: time)) ?? .zero
      _ = readings.take(at: Instant(offset: time))
      time += .milliseconds(700)
      count += 1
    }
    #expect(count <= 130)
  }

  @Test func `files that change while one waits are read with it`() {
    var readings = FileReadings()
    #expect(readings.changed(Self.file, at: Instant(offset: .zero)) == .zero)
    #expect(readings.changed("/p/.env", at: Instant(offset: .zero)) == .zero)
    #expect(readings.changed("/p/.env", at: Instant(offset: .zero)) == nil)
    #expect(readings.take(at: Instant(offset: .zero)) == [Self.file, "/p/.env"])
    #expect(readings.take(at: Instant(offset: .zero)) == [])
  }
}
