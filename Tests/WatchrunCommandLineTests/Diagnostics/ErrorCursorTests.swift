import Diagnostics
import Testing

@testable import WatchrunCommandLine

struct ErrorCursorTests {
  private let warning = Diagnostic(.warning, "w", path: "/a", line: 1)
  private let errors = ["1", "2"].map { Diagnostic(.error, $0, path: "/a", line: 2) }

  @Test func `errors come in turn, and warnings do not count beside them`() {
    var cursor = ErrorCursor()
    let all = [warning] + errors + [Diagnostic(.error, "without a file")]
    let steps = [0, 0, 1, 1, -1, -1].map { cursor.move(by: $0, in: all)?.text }
    #expect(
      steps == [
        "error 1 of 2", "error 1 of 2", "error 2 of 2", "error 1 of 2", "error 2 of 2",
        "error 1 of 2",
      ])
  }

  @Test func `the first step shows the first error, also when the errors have changed`() {
    var cursor = ErrorCursor()
    #expect(cursor.move(by: 1, in: errors)?.diagnostic == errors[0])
    #expect(cursor.move(by: 1, in: errors)?.diagnostic == errors[1])
    #expect(cursor.move(by: 1, in: [errors[1]])?.text == "the only error")
    #expect(cursor.move(by: -1, in: [warning, warning])?.text == "warning 1 of 2")
    #expect(cursor.move(by: 0, in: []) == nil)
  }
}
