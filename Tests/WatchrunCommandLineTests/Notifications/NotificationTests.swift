import Diagnostics
import FileObservation
import SystemCalls
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

import enum SystemCalls.ExitStatus

struct NotificationTests {
  private static func run(_ job: TaskReport.Job = .command) -> TaskReport.Run {
    TaskReport.Run(task: "make", job: job, number: 1, trigger: RunTrigger(.start))
  }

  private static func ended(
    _ status: ExitStatus, _ ending: TaskReport.Ending = .byItself, of job: TaskReport.Job = .command
  ) -> TaskReport {
    .run(run(job), .ended(status, duration: .milliseconds(3200), ending))
  }

  private func text(_ report: TaskReport, _ role: TaskText.Role = .command) -> String? {
    let text = TaskText(name: "make", role: role, command: "", shownCommand: "make test")
    return Notification(report, of: text, in: "/home/u/app").map { notification in
      "\(notification.isSuccess ? "+" : "-") \(notification.title): \(notification.body)"
    }
  }

  @Test(
    arguments: [
      (ended(.exited(0)), "+ make test succeeded: in 3.2 s, in app"),
      (ended(.exited(2)), "- make test failed: with status 2 after 3.2 s, in app"),
      (
        ended(.signaled(Signal(rawValue: SIGSEGV))),
        "- make test failed: killed by SIGSEGV after 3.2 s, in app"
      ),
      (ended(.exited(143), .timedOut), "- make test timed out: after 3.2 s, in app"),
    ])
  func `the end of a run is summed up`(report: TaskReport, expected: String) {
    #expect(text(report) == expected)
  }

  @Test(
    arguments: [
      ended(.exited(1), of: .hook), ended(.exited(143), .stopped), .runner(.idle),
      .runner(.unsettled([])),
      .run(
        run(.hook), .notStarted(SystemError(call: "execve", code: ENOENT), status: .exited(127))),
    ])
  func `what ends no run is no news`(report: TaskReport) {
    #expect(text(report) == nil)
  }

  @Test func `the first error is named`() throws {
    let report = Self.ended(.exited(2))
    let text = TaskText(name: "make", role: .command, command: "", shownCommand: "make test")
    let notification = try #require(Notification(report, of: text, in: "/home/u/app"))
    let error = Diagnostic(.error, "no x", path: "/home/u/app/a.c", line: 3, column: 5)
    #expect(
      notification.naming(error, in: "/home/u/app").body
        == "with status 2 after 3.2 s, in app: a.c:3:5 no x")
    let round = TaskRound(entries: [
      .init(name: "a", outcome: .succeeded(.zero)),
      .init(name: "b", outcome: .failed(.exited(1), .zero)),
    ])
    #expect(report.failedTasks == ["make"] && TaskReport.round(.ended(round)).failedTasks == ["b"])
    #expect(Self.ended(.exited(0)).failedTasks == [])
  }

  @Test func `a build is news if it fails`() {
    #expect(text(Self.ended(.exited(0)), .build) == nil)
    #expect(
      text(Self.ended(.exited(1)), .build)
        == "- the build failed: with status 1 after 3.2 s, in app")
    #expect(
      text(Self.ended(.exited(0), .timedOut), .build)
        == "- the build timed out: after 3.2 s, in app")
  }

  @Test func `a command that cannot be run has failed`() {
    let error = SystemError(call: "execve", code: ENOENT)
    #expect(
      text(.run(Self.run(), .notStarted(error, status: .exited(127))))
        == "- make test cannot be run: No such file or directory, in app")
  }

  @Test func `a text has no control characters and is not too long`() {
    let command = "\u{1B}]0;x\u{7}" + String(repeating: "y", count: 500)
    let text = TaskText(name: "x", role: .command, command: "", shownCommand: command)
    let notification = Notification(Self.ended(.exited(0)), of: text, in: "/a\nb")
    #expect(notification?.title.count == 80)
    let texts = (notification?.title ?? "") + (notification?.body ?? "")
    #expect(texts.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
  }

  @Test func `a round is named after what failed, or what succeeded`() throws {
    let good = TaskRound.Entry(name: "build", outcome: .succeeded(.seconds(1)))
    let bad = TaskRound.Entry(name: "test", outcome: .failed(.exited(1), .seconds(2)))
    let rest = TaskRound.Entry(name: "page", outcome: .skipped(because: "test"))
    let failed = try #require(Notification(TaskRound(entries: [good, bad, rest]), in: "/"))
    #expect(failed.title == "test failed" && !failed.isSuccess)
    #expect(failed.body.hasPrefix("build ok 1.0 s · test failed 2.0 s · page skipped"))
    #expect(failed.body.hasSuffix(", in /"))
    let succeeded = try #require(Notification(TaskRound(entries: [good, good]), in: "/"))
    #expect(succeeded.title == "build and 1 more succeeded" && succeeded.isSuccess)
    let cancelled = TaskRound.Entry(name: "test", outcome: .cancelled)
    #expect(Notification(TaskRound(entries: [cancelled]), in: "/") == nil)
    #expect(Notification(TaskRound(entries: []), in: "/") == nil)
  }
}
