import Foundation
import SystemCalls
import Testing

@testable import LiveReload

struct StatusModelTests {
  private func model() -> StatusModel {
    var model = StatusModel()
    model.note(
      .tasks([
        .init(name: "build", command: "make"),
        .init(name: "server", command: "./server", dependencies: ["build"], isService: true),
      ]), at: 0)
    return model
  }

  @Test func `a round is recorded from its start to its end`() throws {
    var model = model()
    model.note(
      .roundBegan(reason: "change", changes: [.init(path: "a.c", kind: "modified")]), at: 100)
    model.note(.started(task: "build"), at: 110)
    model.note(.output(task: "build", line: Array("one \u{1B}[31mred".utf8)), at: 120)
    #expect(model.tasks[0].state == .running)
    model.note(.ended(task: "build", .failed, status: 2, duration: .milliseconds(40)), at: 150)
    model.note(.ended(task: "server", .skipped, status: nil, duration: .zero), at: 150)
    model.note(.roundEnded(succeeded: false), at: 160)
    #expect(model.tasks.map(\.state) == [.failed, .skipped])
    let round = try #require(model.rounds.first)
    #expect(round.durationMilliseconds == 60)
    #expect(round.hasSucceeded == false)
    #expect(round.entries.map(\.outcome) == [.failed, .skipped])
    #expect(model.tasks[0].lines.map(\.count) == [2])
  }

  @Test func `the output is that of the latest run`() {
    var model = model()
    for number in 1...2 {
      model.note(.started(task: "build"), at: number)
      model.note(.output(task: "build", line: Array("\(number)".utf8)), at: number)
      model.note(.ended(task: "build", .succeeded, status: 0, duration: .zero), at: number)
    }
    #expect(model.tasks[0].lines.map { $0.map(\.text) } == [["2"]])
  }

  @Test func `output and rounds are limited`() {
    var model = model()
    model.note(.started(task: "build"), at: 0)
    for number in 0..<2000 {
      model.note(.output(task: "build", line: Array("\(number)".utf8)), at: 0)
    }
    #expect(model.tasks[0].lines.count <= 500)
    #expect(model.tasks[0].lines.last?.first?.text == "1999")
    let shown = StatusModel.shownLines(of: model.tasks[0], lastLines: 80).map { $0[0].text }
    let numbers: [String] = (0..<40).map(String.init)
    let lastNumbers: [String] = (1920..<2000).map(String.init)
    #expect(shown == numbers + ["⋯ lines are left out here ⋯"] + lastNumbers)
    for _ in 0..<200 {
      model.note(.roundBegan(reason: "key", changes: []), at: 0)
      model.note(.roundEnded(succeeded: true), at: 0)
    }
    #expect(model.rounds.count == 50)
    #expect(model.rounds.first?.number == 200)
  }

  @Test func `each line is searched for links once, even if others are dropped`() {
    var model = model()
    var searched: [String] = []
    func link() {
      model.linkOutput(of: "build") { lines in
        searched += lines.flatMap { $0.map(\.text) }
        return lines
      }
    }
    model.note(.started(task: "build"), at: 0)
    for number in 0..<1200 {
      model.note(.output(task: "build", line: Array("\(number)".utf8)), at: 0)
      if number % 50 == 0 { link() }
    }
    model.note(.ended(task: "build", .succeeded, status: 0, duration: .zero), at: 0)
    link()
    link()
    #expect(searched == (0..<1200).map(String.init))
    // The same number of lines again.
    model.note(.started(task: "build"), at: 1)
    link()
    model.note(.output(task: "build", line: Array("again".utf8)), at: 1)
    link()
    #expect(searched.last == "again")
  }

  @Test func `a changed project keeps the state of its tasks`() {
    var model = model()
    model.note(.started(task: "build"), at: 5)
    model.note(
      .tasks([.init(name: "new", command: "x"), .init(name: "build", command: "make all")]), at: 6)
    #expect(model.tasks.map(\.description.name) == ["new", "build"])
    #expect(model.tasks.map(\.state) == [.pending, .running])
  }

  @Test func `the JSON has the documented shape`() throws {
    var model = model()
    model.note(.roundBegan(reason: "start", changes: []), at: 1)
    model.note(.started(task: "build"), at: 2)
    let json = model.json(directory: "/p", pages: [.init(name: "page", url: "u", source: "s")])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    #expect(Set(object.keys) == ["version", "directory", "pages", "tasks", "rounds"])
    let tasks = try #require(object["tasks"] as? [[String: Any]])
    #expect(
      Set(tasks[0].keys) == [
        "name", "command", "after", "service", "state", "status", "startedAt", "durationMs",
        "output",
      ])
    #expect(tasks[0]["status"] is NSNull)
    let rounds = try #require(object["rounds"] as? [[String: Any]])
    #expect(
      Set(rounds[0].keys) == [
        "number", "reason", "changes", "startedAt", "durationMs", "succeeded", "tasks",
      ])
  }
}
