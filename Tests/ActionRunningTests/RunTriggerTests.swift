import FileObservation
import Testing

@testable import ActionRunning

extension ChangeBatch.Change {
  static func of(_ path: Path, _ kind: ChangeBatch.Kind, from: Path? = nil) -> Self {
    Self(path: path, kind: kind, type: kind == .removed ? .unknown : .file, from: from)
  }
}

extension RunTrigger {
  /// By a change of these paths.
  static func change(_ paths: Path...) -> RunTrigger {
    RunTrigger(.change, changes: paths.map { .of($0, .modified) })
  }
}

struct TriggerTests {
  @Test func `a batch is a change, and one after an overflow says so`() {
    let changes = [ChangeBatch.Change.of("f", .modified)]
    #expect(
      RunTrigger(ChangeBatch(number: 1, changes: changes)) == RunTrigger(.change, changes: changes))
    #expect(
      RunTrigger(ChangeBatch(number: 1, changes: [], overflow: true)) == RunTrigger(.overflow))
  }
}
