import Diagnostics
import FileObservation
import Support
import SystemCalls
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

/// What the closing line of a run says about errors.
struct DiagnosticLogTests {
  private var log = DiagnosticLog()

  private func error(_ message: String, _ line: Int = 1, in path: Path = "/p/a.c") -> Diagnostic {
    Diagnostic(.error, message, path: path, line: line, column: 3)
  }

  private mutating func failed(_ found: Diagnostic...) -> String? {
    log.ended("t", hasSucceeded: false, found)?.text(in: "/p")
  }

  private mutating func succeeded(_ found: Diagnostic...) -> String? {
    log.ended("t", hasSucceeded: true, found)?.text(in: "/p")
  }

  private let warning = Diagnostic(.warning, "w", path: "/p/a.c", line: 9)
  private let note = Diagnostic(.note, "n", path: "/p/a.c", line: 9)

  @Test mutating func `errors and warnings are counted, and the first error is named`() {
    let text = failed(warning, error("x", 12), note, error("y"))
    #expect(text == "2 errors, 1 warning · a.c:12:3 x")
  }

  @Test mutating func `without an error, there is no place`() {
    #expect(succeeded(warning, note) == "1 warning")
    #expect(failed(note) == nil)
    #expect(failed() == nil)
  }

  @Test mutating func `a run after one with errors says what is new and what is fixed`() {
    _ = failed(error("x"), error("y"))
    #expect(failed(error("y"), error("z")) == "2 errors (1 new), 1 error fixed · a.c:1:3 z")
    #expect(failed(error("y"), error("z")) == "2 errors · a.c:1:3 y")
    #expect(failed(error("v")) == "1 new error, 2 errors fixed · a.c:1:3 v")
    #expect(succeeded(warning) == "1 error fixed, 1 warning")
    #expect(failed(error("x"), error("y")) == "2 errors · a.c:1:3 x")
    #expect(succeeded() == "2 errors fixed")
  }

  @Test mutating func `an error that moves to another line is the same`() {
    _ = failed(error("x", 1), error("x", 5))
    #expect(failed(error("x", 3)) == "1 error, 1 error fixed · a.c:3:3 x")
    #expect(failed(error("x", 3, in: "/p/b.c")) == "1 new error, 1 error fixed · b.c:3:3 x")
  }

  @Test mutating func `a run that succeeds has no errors, whatever it prints`() {
    #expect(succeeded(error("x"), warning) == "1 warning")
    #expect(log["t"] == [warning])
  }

  @Test mutating func `tasks are apart, and removed ones are forgotten`() {
    _ = failed(error("x"))
    #expect(log.ended("u", hasSucceeded: true, []) == nil)
    #expect(log["t"] == [error("x")])
    log.keep(["u"])
    #expect(log["t"].isEmpty)
  }

  @Test mutating func `what has no place is shown without one, and a long message is cut`() {
    #expect(failed(Diagnostic(.error, "no rule")) == "1 error · no rule")
    let long = failed(error(String(repeating: "x", count: 500)))
    #expect(long?.hasSuffix("xxx…") == true && (long?.count ?? 0) < 200)
  }

  /// A run begins because of this change, of which this is known.
  private mutating func started(
    _ kind: ChangeBatch.Kind, by writer: Suspicion.Verdict, isAtRest: Bool = false
  ) {
    let change = ChangeBatch.Change(path: "/p/a.o", kind: kind, type: .file)
    log.handle(
      .changes(
        .explained([.init(path: "/p/a.o", decision: .run, verdict: writer, delay: .zero)])))
    if isAtRest { log.handle(.runner(.idle)) }
    let trigger = RunTrigger(.change, changes: [change])
    log.handle(.run(.init(task: "t", job: .command, number: 2, trigger: trigger), .started))
  }

  @Test mutating func `a run because of new files of the one before keeps what that one found`() {
    _ = failed(error("x"), warning, Diagnostic(.error, "no rule"))
    started(.created, by: .unknown)
    #expect(failed(error("x")) == "1 error, 1 error fixed, 1 warning · a.c:1:3 x")
    started(.created, by: .run)
    #expect(succeeded() == "1 error fixed, 1 warning")
    #expect(log["t"] == [warning])
  }

  @Test mutating func `any other run replaces what the run before found`() {
    for (kind, writer, isAtRest) in [
      (ChangeBatch.Kind.modified, Suspicion.Verdict.unknown, false),
      (.created, .others, false), (.created, .unknown, true),
    ] {
      _ = succeeded(warning)
      started(kind, by: writer, isAtRest: isAtRest)
      #expect(succeeded() == nil)
      #expect(log["t"].isEmpty)
    }
  }
}
