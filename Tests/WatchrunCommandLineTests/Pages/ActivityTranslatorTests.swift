import FileObservation
import LiveReload
import SystemCalls
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

import enum SystemCalls.ExitStatus

/// From the reports of a command to the activity of pages.
struct ActivityTranslatorTests {
  private static let change = RunTrigger(
    .change,
    changes: [
      .init(path: "/p/src/a.c", kind: .modified, type: .file),
      .init(path: "/elsewhere", kind: .created, type: .file),
    ])

  private func story(_ words: String..., reports: [RunReport]) throws -> [String] {
    let settings = try OptionParser.parse(words.map { Array($0.utf8) })
    var translator = ActivityTranslator(CommandTasks(settings), directory: "/p")
    return reports.flatMap { translator.activities(for: $0) }.map(shown)
  }

  private func started(_ job: ActionQueue.Job, _ trigger: RunTrigger = Self.change) -> RunReport {
    .started(run(job, trigger))
  }

  private func ended(
    _ job: ActionQueue.Job, _ status: Int32 = 0, _ ending: RunReport.Ending = .byItself
  ) -> RunReport {
    .ended(run(job), .exited(status), duration: .seconds(1), ending)
  }

  private let begun = "round change src/a.c modified, /elsewhere created"

  @Test func `a command that ends is a round`() throws {
    let story = try story(
      "--serve", "public", "--", "/usr/bin/make", "all",
      reports: [
        started(.command), .output(run(.command), Array("text".utf8)), ended(.command),
        started(.command, RunTrigger(.key)), ended(.command, 2),
      ])
    #expect(
      story == [
        begun, "+make", "make: text", "make succeeded 0", "round succeeded", "round key", "+make",
        "make failed 2", "round failed",
      ])
  }

  @Test func `a build is a task of the same round, and its failure ends that`() throws {
    let story = try story(
      "--serve", "public", "--build", "make", "--", "./app",
      reports: [
        started(.build), ended(.build), started(.command), ended(.command), started(.build),
        ended(.build, 1),
      ])
    #expect(
      story == [
        begun, "+build", "build succeeded 0", "+app", "app succeeded 0", "round succeeded", begun,
        "+build", "build failed 1", "round failed",
      ])
  }

  @Test func `a server's round ends when it has been started`() throws {
    let story = try story(
      "--proxy", "3000", "-r", "--", "./server",
      reports: [
        started(.command, RunTrigger(.start)), .stopping(.command, .terminate),
        ended(.command, 0, .stopped), started(.command), ended(.command, 1),
      ])
    #expect(
      story == [
        "round start", "+server", "unsettled server", "server ready", "round succeeded",
        "server stopping", "unsettled server", "server stopped", begun, "+server",
        "unsettled server", "server ready", "round succeeded", "server failed 1",
      ])
  }

  @Test func `a server keeps running while its next version is built`() throws {
    let story = try story(
      "--proxy", "3000", "-r", "--build", "make", "--", "./server",
      reports: [
        started(.build), ended(.build), .stopping(.command, .terminate),
        ended(.command, 0, .stopped), started(.command), started(.build), ended(.build, 1),
      ])
    #expect(
      story == [
        begun, "+build", "build succeeded 0", "server stopping", "unsettled build server",
        "server stopped", "+server", "unsettled build server", "server ready", "round succeeded",
        begun, "+build", "build failed 1", "round failed",
      ])
  }

  @Test func `a build that is interrupted by a change ends its round`() throws {
    let story = try story(
      "--proxy", "3000", "-r", "--build", "make", "--", "./server",
      reports: [
        started(.build), .stopping(.build, .terminate), ended(.build, 0, .stopped), started(.build),
      ])
    #expect(
      story == [
        begun, "+build", "build stopping", "build stopped", "round failed", begun, "+build",
      ])
  }

  @Test func `the page waits for running tasks, and for a server to start`() throws {
    var settings = Settings()
    settings.command = [Array("./server".utf8)]
    settings.restarts = true
    var translator = ActivityTranslator(CommandTasks(settings), directory: "/p")
    #expect(translator.activities(for: .settled(false)).map(shown) == ["unsettled server"])
    _ = translator.activities(for: started(.command))
    #expect(translator.activities(for: .settled(true)).map(shown) == ["unsettled server"])
    #expect(translator.serverHasBegun().map(shown) == ["unsettled "])
    #expect(translator.serverHasBegun().isEmpty)
  }

  @Test func `a signal to the server is a round`() throws {
    let story = try story(
      "--proxy", "3000", "-s", "HUP", "--", "./server",
      reports: [.signaled(.hangup, Self.change)])
    #expect(story == [begun, "round succeeded"])
  }

  @Test func `a program that cannot be started fails with the reason as its output`() throws {
    let story = try story(
      "--serve", "a", "--", "./app",
      reports: [
        started(.command),
        .notStarted(
          run(.command), SystemError(call: "posix_spawn", code: ENOENT, path: "./app"),
          status: .exited(127)),
      ])
    #expect(
      story == [
        begun, "+app", "app: cannot run ./app: No such file or directory", "app failed 127",
        "round failed",
      ])
  }

  @Test func `a timeout is a failure, whatever the status`() throws {
    let story = try story(
      "--serve", "a", "--", "./app",
      reports: [
        started(.command), .timedOut(run(.command), after: .seconds(1)),
        ended(.command, 0, .timedOut),
      ])
    #expect(story == [begun, "+app", "app failed 0", "round failed"])
  }

  @Test func `hooks are not reported to pages`() throws {
    let story = try story(
      "--serve", "a", "--on-success", "x", "--", "./app",
      reports: [
        started(.hook), .output(run(.hook), [0x61]), .stopping(.hook, .terminate), ended(.hook, 1),
      ])
    #expect(story.isEmpty)
  }

  @Test(arguments: [
    (["/usr/bin/make", "all"], "make"), (["make all | tee log"], "make"), (["A=1 ./x y"], "x"),
    (["A=1"], "A=1"), ([" "], "command"), (["./"], "command"), (["build"], "build"),
  ])
  func `a command is called after its program`(words: [String], name: String) {
    var settings = Settings()
    settings.command = words.map { Array($0.utf8) }
    #expect(CommandTasks(settings).name == name)
    #expect(CommandTasks(settings).names == [name])
  }

  @Test func `a command named like the build has another name`() {
    var settings = Settings()
    settings.command = [Array("./build".utf8)]
    settings.build = Array("make".utf8)
    settings.restarts = true
    let tasks = CommandTasks(settings)
    #expect(tasks.names == ["build", "command"])
    #expect(shown(tasks.activity) == "tasks build = make; command = ./build after build, service")
  }
}

private func run(_ job: ActionQueue.Job, _ trigger: RunTrigger = RunTrigger(.start))
  -> RunReport.Run
{
  RunReport.Run(job: job, number: 1, trigger: trigger)
}

/// An activity in a few words.
func shown(_ activity: Activity) -> String {
  switch activity {
  case .tasks(let tasks):
    return "tasks "
      + tasks.map { task in
        let after = task.dependencies.isEmpty ? "" : " after " + task.dependencies.joined()
        return "\(task.name) = \(task.command)\(after)\(task.isService ? ", service" : "")"
      }.joined(separator: "; ")
  case .roundBegan(let reason, let changes):
    let list = changes.map { "\($0.path) \($0.kind)" }.joined(separator: ", ")
    return "round \(reason)\(list.isEmpty ? "" : " " + list)"
  case .started(let task): return "+\(task)"
  case .output(let task, let line): return "\(task): \(String(decoding: line, as: UTF8.self))"
  case .stopping(let task): return "\(task) stopping"
  case .ended(let task, let outcome, let status, _):
    return "\(task) \(outcome)\(status.map { " \($0)" } ?? "")"
  case .unsettled(let names): return "unsettled " + names.sorted().joined(separator: " ")
  case .roundEnded(let succeeded): return succeeded ? "round succeeded" : "round failed"
  case .changed(let paths): return "changed " + paths.map { "\($0)" }.joined(separator: " ")
  }
}
