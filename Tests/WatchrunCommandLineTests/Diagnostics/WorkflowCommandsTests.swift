import Diagnostics
import Testing

@testable import WatchrunCommandLine

struct WorkflowCommandsTests {
  private func commands(_ variables: [String: String]) -> WorkflowCommands? {
    WorkflowCommands { variables[$0] }
  }

  @Test func `a diagnostic is shown beside the code`() throws {
    let workflow = try #require(
      commands(["GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/home/runner/work/p/p"]))
    let lines = [
      Diagnostic(.error, "no x", path: "/home/runner/work/p/p/src/a.c", line: 3, column: 5),
      Diagnostic(.warning, "100%: a, b\nc\r", path: "/usr/a,b:c%.h", line: 1),
      Diagnostic(.error, "::error::no"), Diagnostic(.note, "here", path: "/p/a.c", line: 3),
    ].compactMap(workflow.annotation)
    #expect(
      lines == [
        "::error file=src/a.c,line=3,col=5::no x",
        "::warning file=/usr/a%2Cb%3Ac%25.h,line=1::100%25: a, b%0Ac%0D",
        "::error::::error::no",
      ])
    #expect(workflow.group("50%\n") == "::group::50%25%0A")
  }

  @Test func `elsewhere, the log has no such lines`() {
    #expect(commands([:]) == nil && commands(["GITHUB_ACTIONS": "false"]) == nil)
  }
}
