import SystemCalls
import Testing

@testable import LiveReload

struct ReloadSessionTests {
  private func session(_ dependencies: Set<String> = []) -> ReloadSession {
    ReloadSession(dependencies: dependencies, watched: ["/p/public"])
  }

  @Test(arguments: [
    (["a.css"], true), (["a.css", "b.png"], true), (["a.css", "a.scss", "a.css.map"], true),
    (["a.css", "index.html"], false), (["app.js"], false), (["a.scss"], false), (["A.CSS"], true),
  ])
  func `stylesheets and images are replaced, all else reloads`(
    names: [String], isReplaced: Bool
  ) {
    var session = session()
    let message = session.changed(names.map { Path("/p/public/" + $0) })
    #expect(message != nil)
    #expect((message == .reload) == !isReplaced)
  }

  @Test func `what lies elsewhere changes nothing`() {
    var session = session()
    #expect(session.changed(["/p/other/a.css", "/p/public2/a.css"]) == nil)
  }

  @Test func `changes wait for the tasks that the page depends on, and come at once`() {
    var session = session(["build"])
    #expect(session.unsettled(["build", "test"]) == nil)
    #expect(session.changed(["/p/public/a.css"]) == nil)
    #expect(session.changed(["/p/public/b.css"]) == nil)
    session.ended("build", hasFailed: false)
    #expect(session.unsettled(["test"]) == .update(["/p/public/a.css", "/p/public/b.css"]))
    #expect(session.unsettled([]) == nil)
  }

  @Test func `a task that changed nothing that is seen reloads the page`() {
    var session = session(["server"])
    _ = session.unsettled(["server"])
    #expect(session.unsettled([]) == .reload)
  }

  @Test func `after a failure nothing is told until the task succeeds`() {
    var session = session(["build"])
    _ = session.unsettled(["build"])
    session.ended("build", hasFailed: true)
    #expect(session.changed(["/p/public/a.css"]) == nil)
    #expect(session.unsettled([]) == nil)
    #expect(session.changed(["/p/public/index.html"]) == nil)
    _ = session.unsettled(["build"])
    session.ended("build", hasFailed: false)
    #expect(session.unsettled([]) == .reload)
  }

  @Test func `tasks that the page does not depend on do not matter`() {
    var session = session(["build"])
    #expect(session.unsettled(["test"]) == nil)
    session.ended("test", hasFailed: true)
    #expect(session.changed(["/p/public/a.css"]) == .update(["/p/public/a.css"]))
    #expect(session.unsettled([]) == nil)
  }
}
