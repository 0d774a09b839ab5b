import FileObservation
import TestSupport
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

  @Test func `paths stay in the order in which they first appeared, each once`() {
    let merged = RunTrigger.change("b", "a").merged(with: .change("c", "a", "d"))
    #expect(merged == .change("b", "a", "c", "d"))
  }

  @Test(
    arguments: [
      (.start, .change, .change), (.change, .key, .key), (.overflow, .change, .overflow),
      (.change, .overflow, .overflow), (.start, .start, .start),
    ] as [(RunTrigger.Reason, RunTrigger.Reason, RunTrigger.Reason)])
  func `the later reason counts, but an overflow always does`(
    first: RunTrigger.Reason, later: RunTrigger.Reason, merged: RunTrigger.Reason
  ) {
    #expect(RunTrigger(first).merged(with: RunTrigger(later)).reason == merged)
  }

  @Test(
    arguments: [
      (.created, .modified, .created), (.created, .metadata, .created),
      (.created, .removed, .removed), (.modified, .removed, .removed),
      (.modified, .metadata, .modified), (.metadata, .modified, .modified),
      (.removed, .created, .modified), (.removed, .removed, .removed),
      (.modified, .modified, .modified), (.renamed, .removed, .removed),
    ] as [(ChangeBatch.Kind, ChangeBatch.Kind, ChangeBatch.Kind)])
  func `two changes of a path become one`(
    first: ChangeBatch.Kind, later: ChangeBatch.Kind, net: ChangeBatch.Kind
  ) {
    let merged = RunTrigger(.change, changes: [.of("f", first)])
      .merged(with: RunTrigger(.change, changes: [.of("f", later)]))
    #expect(merged.changes == [.of("f", net)])
  }

  @Test func `a renamed file that is modified afterwards keeps its origin`() {
    let merged = RunTrigger(.change, changes: [.of("b", .renamed, from: "a")])
      .merged(with: .change("b"))
    #expect(merged.changes == [.of("b", .renamed, from: "a")])
  }
}
