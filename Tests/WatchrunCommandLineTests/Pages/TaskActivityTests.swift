import FileObservation
import LiveReload
import SystemCalls
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

import enum SystemCalls.ExitStatus

/// From the reports of a project's runner to the activity of pages.
struct TaskActivityTests {
  private let change = RunReport.Run(
    job: .command, number: 1,
    trigger: RunTrigger(
      .change, changes: [.init(path: "/p/a", kind: .modified, type: .file)]))
  private let dependent = RunReport.Run(job: .command, number: 1, trigger: RunTrigger(.change))
  private let restart = RunReport.Run(job: .command, number: 2, trigger: RunTrigger(.restart))

  private func translator(_ text: String) throws -> (ActivityTranslator, Activity) {
    let project = try readProject("{ tasks: { \(text) } }")
    let graph = try project.graph(Settings().projectContext(in: "/p", ignoring: []))
    var translator = ActivityTranslator(directory: "/p")
    let tasks = translator.take(graph, commands: project.shownCommands)
    return (translator, tasks)
  }

  private let tasks = """
    build: { run: 'make' }, test: { run: ['make', 'test'], after: ['build'] },
    server: { run: './s', after: ['build'], service: true, ready: { port: 80 } },
    plain: { run: './p', service: true },
    """

  private func story(_ reports: TaskReport...) throws -> [String] {
    var translator = try translator(tasks).0
    return reports.flatMap { translator.activities(for: $0) }.map(shown)
  }

  private func round(_ outcomes: (String, TaskRound.Outcome)...) -> TaskReport {
    .roundEnded(TaskRound(entries: outcomes.map { .init(name: $0.0, outcome: $0.1) }))
  }

  @Test func `pages know the tasks, each after its dependencies`() throws {
    let activity = try translator(tasks).1
    #expect(
      shown(activity)
        == "tasks build = make; test = make test after build; server = ./s after build, service; "
        + "plain = ./p, service")
  }

  @Test func `a round begins with the first run and ends with the round`() throws {
    let story = try story(
      .started("build", change), .output("build", Array("x".utf8)),
      .ended("build", .exited(0), duration: .seconds(1), .byItself), .started("test", dependent),
      .ended("test", .exited(3), duration: .seconds(1), .byItself),
      round(("test", .failed(.exited(3), .seconds(1)))), .started("build", change))
    #expect(
      story == [
        "round change a modified", "+build", "build: x", "build succeeded 0", "+test",
        "test failed 3", "round failed", "round change a modified", "+build",
      ])
  }

  @Test func `services become ready, are kept, or are too late`() throws {
    let story = try story(
      .started("server", change), .ready("server", after: .seconds(1)), round(),
      .kept("server", because: .failed("build")), .skipped("test", because: .failed("build")),
      .notReady("server", TaskDefinition.Readiness(.port(80))),
      .detail("server", .stopping(.command, .terminate)),
      .ended("server", .exited(0), duration: .seconds(1), .stopped))
    #expect(
      story == [
        "round change a modified", "+server", "server ready", "round succeeded", "server kept",
        "test skipped", "server notReady", "server stopping", "server stopped",
      ])
  }

  @Test func `a service without a readiness check is ready at once`() throws {
    #expect(try story(.started("plain", dependent)) == ["round change", "+plain", "plain ready"])
  }

  @Test func `a service that ends by itself has failed, and its restart is no round`() throws {
    let story = try story(
      .ended("server", .exited(0), duration: .seconds(1), .byItself),
      .started("server", restart), .ready("server", after: .seconds(1)), round())
    #expect(story == ["server failed 0", "+server", "server ready"])
  }
}
