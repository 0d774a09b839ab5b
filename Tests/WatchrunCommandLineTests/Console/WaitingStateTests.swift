import FileObservation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

import enum SystemCalls.ExitStatus

private func time(_ seconds: Double) -> Instant { Instant(offset: .seconds(seconds)) }

private func run(_ job: ActionQueue.Job = .command, number: Int = 1) -> RunReport.Run {
  RunReport.Run(job: job, number: number, trigger: RunTrigger(.start))
}

private func change(_ path: Path) -> RunTrigger {
  RunTrigger(.change, changes: [.init(path: path, kind: .modified, type: .file)])
}

private func ended(_ job: ActionQueue.Job = .command) -> RunReport {
  .ended(run(job), .exited(0), duration: .zero, .byItself)
}

/// When what waits is reported, and how it is listed.
@Suite struct WaitingStateTests {
  private var waiting = WaitingState()

  private mutating func take(_ report: RunReport, _ seconds: Double = 0) {
    waiting.take(report, at: time(seconds))
  }

  private mutating func notices(_ seconds: Double) -> [WaitingState.Notice] {
    waiting.takeNotices(at: time(seconds))
  }

  private func lines(_ seconds: Double) -> [String] {
    WaitingReporter.lines(of: waiting, at: time(seconds)) { trigger in
      trigger.changes.first.map { "\($0.path) changed" } ?? "r"
    }
  }

  @Test mutating func `nothing is due while nothing waits`() {
    #expect(waiting.nextTime == nil)
    take(.started(run()))
    take(ended())
    #expect(waiting.nextTime == nil)
  }

  @Test mutating func `a change that waits for a run is reported after two seconds, once`() {
    take(.started(run()))
    take(.queued(change("/a"), behind: .command), 1)
    #expect(waiting.nextTime == time(3))
    #expect(notices(2.9) == [])
    #expect(notices(3) == [.queued(task: "", change("/a"), behind: [""])])
    take(.queued(change("/b"), behind: .command), 4)
    #expect(waiting.nextTime == nil)
    #expect(notices(9) == [])
    #expect(lines(9) == ["/a changed; runs again when this run ends"])
  }

  @Test mutating func `a run that ends in time leaves nothing to report`() {
    take(.queued(change("/a"), behind: .command))
    take(ended(), 1)
    #expect(waiting.nextTime == nil)
    #expect(lines(1) == [])
  }

  @Test mutating func `a key is reported beside a change`() {
    take(.queued(change("/a"), behind: .command))
    #expect(notices(2).count == 1)
    take(.queued(RunTrigger(.key), behind: .command), 5)
    #expect(waiting.nextTime == time(7))
    #expect(notices(7) == [.queued(task: "", RunTrigger(.key), behind: [""])])
  }

  @Test mutating func `a trigger that waits for a hook outlives the run`() {
    take(.queued(change("/a"), behind: .hook))
    #expect(notices(2) == [.queuedBehindHook(change("/a"))])
    #expect(lines(2) == ["/a changed; runs again when the hook ends"])
    take(ended(.hook), 3)
    #expect(lines(3) == [])
  }

  @Test mutating func `a job that does not end is reported after a second`() {
    take(.stopping(.command, .terminate, killAfter: .seconds(10)), 5)
    #expect(waiting.nextTime == time(6))
    #expect(
      notices(6) == [
        .stopping(task: "", .command, .terminate, waited: .seconds(1), killIn: .seconds(9))
      ])
    #expect(lines(8) == ["SIGTERM was sent 3.0 s ago; killing it in 7.0 s"])
    take(.gone(.command), 15)
    #expect(lines(15) == [])
  }

  @Test mutating func `a job that is killed within a second is not reported`() {
    take(.stopping(.command, .terminate, killAfter: .milliseconds(500)))
    #expect(notices(1) == [])
    #expect(waiting.nextTime == nil)
  }

  @Test mutating func `a trigger that waits for a stopping run is not reported as well`() {
    take(.queued(change("/a"), behind: .command))
    take(.stopping(.command, .terminate, killAfter: .seconds(10)), 1)
    #expect(notices(2).count == 1)
  }

  @Test mutating func `a task without a job is reported after five seconds, with its holders`() {
    let wait = TaskRunner.Waiting("api", .start, for: .job(heldBy: ["web", "css"]))
    waiting.take(.waiting([wait]), at: time(0))
    waiting.take(.waiting([wait, .init("end", .start, for: .dependencies(["api"]))]), at: time(1))
    #expect(waiting.nextTime == time(5))
    #expect(notices(5) == [.needsJob(task: "api", heldBy: ["web", "css"])])
    #expect(notices(50) == [])
    #expect(lines(50) == ["api: waits for a job: web and css run", "end: waits for api"])
    waiting.take(.waiting([]), at: time(51))
    #expect(lines(51) == [])
  }

  @Test mutating func `a task that waits for others is reported until they have ended`() {
    let queued = TaskReport.queued("build", change("/a"), behind: ["test", "lint"])
    waiting.take(queued, at: time(0))
    #expect(lines(0) == ["build: /a changed; runs again when test and lint end"])
    waiting.take(.ended("test", .exited(0), duration: .zero, .byItself), at: time(1))
    #expect(notices(2) == [.queued(task: "build", change("/a"), behind: ["lint"])])
    waiting.take(.ended("lint", .exited(0), duration: .zero, .byItself), at: time(3))
    #expect(lines(3) == [])
  }

  @Test mutating func `a restart is listed until it is made`() {
    take(.backingOff(.seconds(4)))
    #expect(lines(1) == ["restarting in 3.0 s"])
    #expect(waiting.nextTime == nil)
    take(.started(run(number: 2)), 4)
    #expect(lines(4) == [])
  }
}

/// The timers of what waits.
@Suite struct WaitingReporterTests {
  private let scheduler = ManualScheduler()

  @Test func `there is a timer only while a notice is due`() {
    let console = Console(shown: .problem, isColored: false)
    let reporter = RunReporter(console: console, command: [], directory: "/")
    let waiting = WaitingReporter(
      restartAdvice: "", scheduler: scheduler, isEnding: { false }, reporter: { _ in reporter })
    waiting.note(.started(run()))
    #expect(scheduler.pendingCount == 0)
    waiting.note(.queued(change("/a"), behind: .command))
    waiting.note(.stopping(.command, .terminate, killAfter: .seconds(10)))
    #expect(scheduler.pendingCount == 1)
    #expect(scheduler.nextTime == time(1))
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.nextTime == time(2))
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    waiting.note(.queued(RunTrigger(.key), behind: .command))
    waiting.note(ended())
    #expect(scheduler.pendingCount == 0)
  }
}
