import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// An observer that compares contents in a fresh folder with a file `f`, and what it has said.
private final class Observed: Sendable {
  let folder: TemporaryDirectory
  let outside: TemporaryDirectory
  let recorder = EventRecorder()
  private let observer: FileObserver

  init(
    limits: ContentLimits = ContentLimits(), kinds: Set<ChangeBatch.Kind>? = nil
  ) async throws {
    folder = try TemporaryDirectory()
    outside = try TemporaryDirectory()
    try folder.write("text", to: "f")
    #expect(await clockTicks())
    var options = ObserverOptions(skipsUnchanged: true, contentLimits: limits)
    if let kinds { options.kinds = kinds }
    observer = try FileObserver(paths: [folder.path], options: options)
    try observer.start(recorder.handler)
    #expect(await recorder.isReady())
  }

  deinit {
    observer.stop()
  }

  /// The changes that are told of from now on until one of a file that is made after `action` is.
  func told(after action: () throws -> Void) async throws -> [ChangeBatch.Change] {
    let seen = recorder.changes.count
    try action()
    let mark = "mark-\(seen)"
    try outside.write(to: mark)
    try outside.rename(mark, to: mark, in: folder)
    #expect(await recorder.sees(folder[mark]))
    return recorder.changes.dropFirst(seen).filter { $0.path != folder[mark] }
  }

  /// Puts a finished file in the place of `f`, which is one event.
  func replaceFile(with text: String) throws {
    try outside.write(text, to: "draft")
    try outside.rename("draft", to: "f", in: folder)
  }

  /// Changes `f`, so that its content is known whether or not it has been read ahead.
  func know() async throws {
    let told = try await told { try replaceFile(with: "known") }
    #expect(told == [.modified(folder["f"])])
  }
}

struct SkipUnchangedTests {
  @Test func `a batch in which nothing has changed is not handed over, nor counted`() async throws {
    let observed = try await Observed()
    try await observed.know()
    let told = try await observed.told {
      try observed.replaceFile(with: "known")
      try observed.replaceFile(with: "known")
    }
    #expect(told == [])
    let others = try await observed.told { try observed.replaceFile(with: "other") }
    #expect(others == [.modified(observed.folder["f"])])
    let numbers = observed.recorder.batches.map(\.number)
    #expect(numbers == Array(1...numbers.count))
  }

  @Test func `it is told of as metadata where that is wanted`() async throws {
    let observed = try await Observed(kinds: Set(ChangeBatch.Kind.allCases))
    try await observed.know()
    let told = try await observed.told { try observed.replaceFile(with: "known") }
    #expect(told.filter { $0.path == observed.folder["f"] } == [.metadata(observed.folder["f"])])
  }

  @Test func `what is larger than the bound always counts`() async throws {
    let observed = try await Observed(limits: ContentLimits(largestFile: 5))
    try await observed.know()
    #expect(try await observed.told { try observed.replaceFile(with: "known") } == [])
    for _ in 1...2 {
      let told = try await observed.told { try observed.replaceFile(with: "larger") }
      #expect(told == [.modified(observed.folder["f"])])
    }
  }

  @Test func `hands over nothing after the stop`() async throws {
    let folder = try TemporaryDirectory()
    let recorder = EventRecorder()
    #expect(await clockTicks())
    let observer = try FileObserver(
      paths: [folder.path], options: ObserverOptions(skipsUnchanged: true))
    try observer.start(recorder.handler)
    #expect(await recorder.isReady())
    observer.stop()
    try folder.write(to: "late")
    let witness = try await Observed()
    try await witness.know()
    #expect(recorder.changes.isEmpty)
  }
}
