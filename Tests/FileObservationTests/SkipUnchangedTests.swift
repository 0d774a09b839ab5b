import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// An observer that compares contents in a fresh directory with a file `f`, with its events.
private final class Observed: Sendable {
  let directory: TemporaryDirectory
  let outside: TemporaryDirectory
  let recorder = EventRecorder()
  private let observer: FileObserver

  init(
    limits: ContentLimits = ContentLimits(), kinds: Set<ChangeBatch.Kind>? = nil
  ) async throws {
    directory = try TemporaryDirectory()
    outside = try TemporaryDirectory()
    try directory.write("text", to: "f")
    #expect(await clockTicks())
    var options = ObserverOptions(skipsUnchanged: true, contentLimits: limits)
    if let kinds { options.kinds = kinds }
    observer = try FileObserver(paths: [directory.path], options: options)
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
  }

  deinit {
    observer.stop()
  }

  /// The changes reported from now on until that of a file that is created after `action`.
  func reported(after action: () throws -> Void) async throws -> [ChangeBatch.Change] {
    let seen = recorder.changes.count
    try action()
    let mark = "mark-\(seen)"
    try outside.write(to: mark)
    try outside.rename(mark, to: mark, in: directory)
    #expect(await recorder.sees(directory[mark]))
    return recorder.changes.dropFirst(seen).filter { $0.path != directory[mark] }
  }

  /// Replaces `f` by a rename, which is one event.
  func replaceFile(with text: String) throws {
    try outside.write(text, to: "draft")
    try outside.rename("draft", to: "f", in: directory)
  }

  /// Changes `f`, so that its content is remembered.
  func know() async throws {
    let reported = try await reported { try replaceFile(with: "known") }
    #expect(reported == [.modified(directory["f"])])
  }
}

struct SkipUnchangedTests {
  @Test func `a batch without differing content is neither delivered nor counted`() async throws {
    let observed = try await Observed()
    try await observed.know()
    let reported = try await observed.reported {
      try observed.replaceFile(with: "known")
      try observed.replaceFile(with: "known")
    }
    #expect(reported == [])
    let others = try await observed.reported { try observed.replaceFile(with: "other") }
    #expect(others == [.modified(observed.directory["f"])])
    let numbers = observed.recorder.batches.map(\.number)
    #expect(numbers == Array(1...numbers.count))
  }

  @Test func `unchanged content is reported as metadata if requested`() async throws {
    let observed = try await Observed(kinds: Set(ChangeBatch.Kind.allCases))
    try await observed.know()
    let reported = try await observed.reported { try observed.replaceFile(with: "known") }
    #expect(
      reported.filter { $0.path == observed.directory["f"] } == [.metadata(observed.directory["f"])]
    )
  }

  @Test func `a file above the size limit is always reported`() async throws {
    let observed = try await Observed(limits: ContentLimits(largestFile: 5))
    try await observed.know()
    #expect(try await observed.reported { try observed.replaceFile(with: "known") } == [])
    for _ in 1...2 {
      let reported = try await observed.reported { try observed.replaceFile(with: "larger") }
      #expect(reported == [.modified(observed.directory["f"])])
    }
  }

  @Test func `nothing is delivered after the stop`() async throws {
    let directory = try TemporaryDirectory()
    let recorder = EventRecorder()
    #expect(await clockTicks())
    let observer = try FileObserver(
      paths: [directory.path], options: ObserverOptions(skipsUnchanged: true))
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    await observer.stop()
    try directory.write(to: "late")
    let witness = try await Observed()
    try await witness.know()
    #expect(recorder.changes.isEmpty)
  }
}
