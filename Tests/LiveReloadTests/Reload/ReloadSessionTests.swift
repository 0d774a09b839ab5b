import SystemCalls
import Testing

@testable import LiveReload

struct ReloadSessionTests {
  private func session(
    _ dependencies: Set<String> = [], loadsMayWrite: Bool = true
  ) -> ReloadSession {
    ReloadSession(dependencies: dependencies, loadsMayWrite: loadsMayWrite)
  }

  @Test(arguments: [
    (["a.css"], true), (["a.css", "b.png"], true), (["a.css", "a.scss", "a.css.map"], true),
    (["a.css", "index.html"], false), (["app.js"], false), (["a.scss"], false), (["A.CSS"], true),
  ])
  func `stylesheets and images are replaced, other files reload`(
    names: [String], isReplaced: Bool
  ) {
    var session = session()
    let message = session.changed(names.map { Path("/p/public/" + $0) }, at: 0)
    #expect(message != nil)
    #expect((message == .send(.reload)) == !isReplaced)
  }

  @Test func `changes wait for the dependencies of the page, and are then sent at once`() {
    var session = session(["build"])
    #expect(session.unsettled(["build", "test"], at: 0) == nil)
    #expect(session.changed(["/p/public/a.css"], at: 0) == nil)
    #expect(session.changed(["/p/public/b.css"], at: 0) == nil)
    session.ended("build", hasFailed: false)
    #expect(
      session.unsettled(["test"], at: 0) == .send(.update(["/p/public/a.css", "/p/public/b.css"])))
    #expect(session.unsettled([], at: 0) == nil)
  }

  @Test func `a task without visible changes reloads the page`() {
    var session = session(["server"])
    _ = session.unsettled(["server"], at: 0)
    #expect(session.unsettled([], at: 0) == .send(.reload))
  }

  @Test func `after a failure, nothing is sent until the task succeeds`() {
    var session = session(["build"])
    _ = session.unsettled(["build"], at: 0)
    session.ended("build", hasFailed: true)
    #expect(session.changed(["/p/public/a.css"], at: 0) == nil)
    #expect(session.unsettled([], at: 0) == nil)
    #expect(session.changed(["/p/public/index.html"], at: 0) == nil)
    _ = session.unsettled(["build"], at: 0)
    session.ended("build", hasFailed: false)
    #expect(session.unsettled([], at: 0) == .send(.reload))
  }

  @Test func `tasks that the page does not depend on do not matter`() {
    var session = session(["build"])
    #expect(session.unsettled(["test"], at: 0) == nil)
    session.ended("test", hasFailed: true)
    #expect(session.changed(["/p/public/a.css"], at: 0) == .send(.update(["/p/public/a.css"])))
    #expect(session.unsettled([], at: 0) == nil)
  }

  @Test func `quick saves of a file in a served directory all reload at once`() {
    var session = session(loadsMayWrite: false)
    let page: Path = "/p/public/index.html"
    for time in stride(from: 0, to: 8000, by: 400) {
      #expect(session.changed([page], at: time) == .send(.reload))
    }
  }

  @Test func `a reload that is delayed for a loop is announced with the path`() {
    var session = session()
    let log: Path = "/p/public/app.log"
    var now = 0
    var decision = session.changed([log], at: now)
    while true {
      switch decision {
      case .wait(let milliseconds, nil):
        now += milliseconds
        decision = session.elapsed(at: now)
        continue
      case .wait(let milliseconds, .some(let path)):
        #expect(milliseconds == 9_800 && path == log)
      case .send(let message):
        #expect(message == .reload)
        session.requested(at: now + 10)
        now += 50
        decision = session.changed([log], at: now)
        continue
      case .ask, nil:
        Issue.record("neither a reload nor a pause")
      }
      break
    }
    #expect(session.changed([log], at: now + 50) == nil)
    // What happens to other tasks and files says nothing about this one.
    #expect(session.changed([], at: now + 700) == nil)
    #expect(session.unsettled(["test"], at: now + 1_400) == nil)
    // Another file does not wait.
    #expect(session.changed(["/p/public/a.js"], at: now + 1_500) == .send(.reload))
    #expect(session.elapsed(at: now + 40_000) == nil)
  }

  @Test func `the end of a former pause does not end the present one`() {
    var session = session()
    let log: Path = "/p/public/app.log"
    for time in [0, 600, 1200, 1800] {
      _ = session.changed([log], at: time)
      session.requested(at: time + 10)
    }
    #expect(session.changed([log], at: 2400) == .wait(milliseconds: 210))
    #expect(session.elapsed(at: 2500) == .wait(milliseconds: 110))
    #expect(session.elapsed(at: 2650) == .send(.reload))
  }

  @Test func `what a server answers from its start on has the revision of its round`() {
    var session = session(["server"])
    _ = session.unsettled(["server"], at: 0)
    session.serverStarted()
    let document = session.revision
    session.becameReady("server")
    #expect(session.unsettled([], at: 0) == .send(.reload))
    #expect(session.revision == document)
    // The next message is new to this document.
    #expect(session.changed(["/p/public/a.js"], at: 10) == .send(.reload))
    #expect(session.revision > document)
  }

  @Test(arguments: [0, 1, 2])
  func `a document that a server answered before a change is reloaded`(kind: Int) {
    var session = session(["server", "build"])
    _ = session.unsettled(["server", "build"], at: 0)
    session.serverStarted()
    let document = session.revision
    switch kind {
    case 0: _ = session.changed(["/p/public/a.js"], at: 0)
    case 1: session.ended("build", hasFailed: false)
    default: session.serverStarted()
    }
    session.becameReady("server")
    #expect(session.unsettled([], at: 0) == .send(.reload))
    #expect(session.revision > document)
  }
}
