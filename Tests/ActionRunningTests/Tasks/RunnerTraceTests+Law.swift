import FileObservation
import Support
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

// The law of delays where each run changes what the graph is made of, so that another graph follows.

extension RunnerTraceTests {
  /// Readings of the file that a graph is made of, at the times of `FileReadings`.
  private struct Readings {
    var suspicion = Suspicion()
    var latest: Instant?
    var due: Instant?
    var count = 0

    mutating func changed(at now: Instant) {
      if due != nil { return }
      due = now
      guard let latest else { return }
      suspicion.changed(.unknown, at: now, after: latest.duration(to: now))
      due = now.advanced(by: suspicion.delay(number: count))
    }

    mutating func isDue(at now: Instant) -> Bool {
      guard let due, due <= now else { return false }
      if let latest { suspicion.began(after: latest.duration(to: now)) }
      (self.due, latest, count) = (nil, now, count + 1)
      return true
    }
  }

  /// What the readings change.
  enum ReplacedPart: CaseIterable {
    case task, dependent, dependentThatComesAndGoes
  }

  private func graph(_ number: Int, _ part: ReplacedPart, watching path: Path) -> TaskGraph {
    var a = task("a") { $0.triggers = TaskTriggers(watched: [WatchedPath(path)]) }
    if part == .task {
      a.command.words.append(Array("\(number)".utf8))
      return TaskGraph(valid: [a], jobs: 2)
    }
    let b = task("b") { task in
      (task.triggers, task.dependencies) = (a.triggers, ["a"])
      if part == .dependent { task.command.words.append(Array("\(number)".utf8)) }
    }
    let isThere = part == .dependent || number % 2 == 1
    return TaskGraph(valid: isThere ? [a, b] : [a], jobs: 2)
  }

  @Test(arguments: ReplacedPart.allCases, [(20, 30), (30, 20), (500, 1000), (1000, 500)])
  func `a run that changes its graph and what it watches starts hardly more often for that`(
    _ part: ReplacedPart, after times: (file: Int, output: Int)
  ) throws {
    let directory = try TemporaryDirectory()
    try directory.write("0", to: "out")
    var (readings, count) = (Readings(), 0)
    let first = graph(0, part, watching: directory["out"])
    let runner = TaskRunner(first, options: .init(), source: nil, output: nil) { [log] in
      log.note($0)
    } makeWorld: { [world] _ in
      (world, world, world.scheduler)
    }
    runner.start()
    advance(runner, by: .zero)
    var (began, starts): ([Int: Int], [Int]) = ([:], [])
    for time in stride(from: 0, to: 600_000, by: 10) {
      for (number, process) in world.living where process.leaderIsAlive && !process.isDying {
        if process.task == "b" {
          finish(number, of: runner)
          continue
        }
        if began[number] == nil { starts.append(time) }
        let start = began[number] ?? time
        began[number] = start
        if time - start == times.file { readings.changed(at: world.scheduler.now) }
        if time - start == times.output {
          count += 1
          try directory.write("\(count)", to: "out")
          submit(directory["out"], to: runner)
        }
        if time - start == max(times.file, times.output) + 10 { finish(number, of: runner) }
      }
      if readings.isDue(at: world.scheduler.now) {
        let next = graph(readings.count, part, watching: directory["out"])
        runner.replaceGraph(next)
      }
      advance(runner, by: .milliseconds(10))
      // A minute is enough where nothing goes on.
      if time > 60_000 && Effort.count(2, quick: 1) == 1 { break }
    }
    // Readings and rounds have a law each, of twenty starts, and some of the first ones count for one of both.
    #expect(starts.count { $0 < 60_000 } <= 22, "\(starts)")
    #expect(starts.count <= 64)
    #expect(starts.count > 8)
    end(runner)
  }

  /// A source whose next flush finds that the graph has changed.
  private final class GraphSource: ChangeSource {
    let react = Mutex<(@Sendable () -> Void)?>(nil)

    func flush(then done: @escaping @Sendable () -> Void) {
      react.withLock { $0.take() }?()
      done()
    }
  }

  /// Nothing starts because of a manual task.
  @Test(arguments: [true, false])
  func `what was saved in a run leads to the next one if its end finds another graph`(
    isManual: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    try directory.write("0", to: "file")
    let graph = { (number: Int) in
      TaskGraph(
        valid: [
          self.task("a") { $0.triggers = TaskTriggers(watched: [WatchedPath(directory["file"])]) },
          self.task("m") { task in
            (task.isManual, task.dependencies) = (isManual, ["a"])
            task.triggers = TaskTriggers(watched: [WatchedPath("/m")])
            task.command.words.append(Array("\(number)".utf8))
          },
        ], jobs: 2)
    }
    let source = GraphSource()
    let runner = TaskRunner(graph(0), options: .init(), source: source, output: nil) { [log] in
      log.note($0)
    } makeWorld: { [world] _ in
      (world, world, world.scheduler)
    }
    runner.start()
    advance(runner, by: .zero)
    try directory.write("1", to: "file")
    submit(directory["file"], to: runner)
    let next = graph(1)
    source.react.withLock { $0 = { runner.replace(next) } }
    finish(0, of: runner)
    for _ in 0..<6 {
      advance(runner, by: .seconds(2))
      for (number, process) in world.living where !process.isDying { finish(number, of: runner) }
    }
    #expect(runs.map(\.task).filter { $0 == "a" } == ["a", "a"])
    end(runner)
  }
}
