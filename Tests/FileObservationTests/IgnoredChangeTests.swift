import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Changes that an observer has seen and does not report.
struct IgnoredChangeTests {
  /// Makes changes below an observer with these options until one of them is passed on as ignored.
  private func isIgnored(
    _ options: ObserverOptions, _ isExpected: @escaping @Sendable (IgnoredChange) -> Bool,
    after change: @escaping @Sendable (TemporaryDirectory) throws -> Void
  ) async throws -> Bool {
    let directory = try TemporaryDirectory()
    try directory.write("text", to: "known")
    #expect(await clockTicks())
    let ignored = Log<IgnoredChange>()
    let recorder = EventRecorder()
    let observer = try FileObserver(
      watching: [WatchedPath(directory.path)], options: options,
      onIgnoredChange: { ignored.note($0) })
    defer { observer.stop() }
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    return await eventually {
      try? change(directory)
      return ignored.entries.contains(where: isExpected)
    }
  }

  @Test(arguments: [Polling.Use.whereNeeded, .always])
  func `a file without a wanted extension is ignored by its rule`(_ use: Polling.Use) async throws {
    let options = ObserverOptions(
      filter: PathFilter(extensions: ["c"]),
      polling: Polling(use, interval: .milliseconds(10) ... .milliseconds(20)))
    let isRule = { @Sendable (change: IgnoredChange) in
      guard case .rule(let rule) = change.reason else { return false }
      return change.path.lastComponent.elementsEqual("a.md".utf8)
        && rule.description == "extensions:0:*"
    }
    #expect(try await isIgnored(options, isRule) { try $0.write(to: "a.md") })
  }

  @Test func `a change of an unwanted kind is ignored`() async throws {
    let options = ObserverOptions(kinds: [.removed])
    let isKind = { @Sendable (change: IgnoredChange) in change.reason == .kind(.created) }
    #expect(try await isIgnored(options, isKind) { try $0.write(to: "new") })
  }

  @Test func `a file with the same content is ignored`() async throws {
    let options = ObserverOptions(skipsUnchanged: true)
    let isSame = { @Sendable (change: IgnoredChange) in change.reason == .sameContent }
    let outside = try TemporaryDirectory()
    #expect(
      try await isIgnored(options, isSame) { directory in
        // The first may be reported, because its content was not known yet.
        try outside.write("text", to: "draft")
        try outside.rename("draft", to: "known", in: directory)
      })
  }

  @Test func `no more than a hundred are passed on in a second`() {
    let sink = IgnoredChangeSink { _ in }
    // The second may end once meanwhile.
    #expect((100...200).contains((0..<1000).count { _ in sink.accepts() }))
  }
}
