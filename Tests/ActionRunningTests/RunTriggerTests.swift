import FileObservation
import Testing

@testable import ActionRunning

extension ChangeBatch.Change {
  static func of(_ path: Path, _ kind: ChangeBatch.Kind, from: Path? = nil) -> Self {
    Self(path: path, kind: kind, type: kind == .removed ? .unknown : .file, from: from)
  }
}

extension ChangeBatch {
  /// A change of these paths.
  static func change(_ paths: Path...) -> ChangeBatch {
    ChangeBatch(number: 1, changes: paths.map { .of($0, .modified) })
  }
}

extension RunTrigger {
  /// By a change of these paths.
  static func change(_ paths: Path...) -> RunTrigger {
    RunTrigger(.change, changes: paths.map { .of($0, .modified) })
  }
}

struct TriggerTests {
  @Test func `commands learn of an overflow in place of the reason`() {
    #expect(RunTrigger(.key).reasonName == "key")
    let batch = ChangeBatch(number: 1, changes: [], overflow: true)
    #expect(RunTrigger(.key, batch).reasonName == "overflow")
  }
}
