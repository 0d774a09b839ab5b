import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Whoever listed a tree once and follows what is reported, knows it as well as if he listed it anew.
@Suite(.serialized)
struct RandomOperationTests {
  /// Those that every run makes, or the one that is asked for.
  private static let seeds: [UInt64] =
    environmentVariable("WATCHRUN_SEED").flatMap(UInt64.init).map { [$0] }
    ?? Array(1...UInt64(Effort.count(4, quick: 2)))

  @Test(arguments: seeds, backendsUnderTest)
  func `the picture of a tree stays true`(seed: UInt64, backend: BackendUnderTest) async throws {
    var picture = try await FollowedTree(by: backend, seed: seed)
    for round in 1...Int(Double(Effort.count(40, quick: 25)) * backend.effort) {
      for _ in 0..<(round * 2) { try picture.tree.step() }
      try await picture.follow()
    }
    #expect(picture.observed.warnings.isEmpty)
  }

  @Test(arguments: seeds.prefix(3), backendsUnderTest.filter(\.hasKernelQueue))
  func `the picture is true again after the queue overflowed`(
    seed: UInt64, backend: BackendUnderTest
  ) async throws {
    var picture = try await FollowedTree(by: backend, seed: seed)
    let observed = picture.observed
    for _ in 0..<Effort.count(5, quick: 2) {
      for _ in 0..<50 { try picture.tree.step() }
      // From within, so that nothing is being read any more.
      observed.observer.queue.sync { observed.observer.queue.suspend() }
      for _ in 0..<20 { try picture.tree.step() }
      try fillQueue(of: observed)
      for _ in 0..<60 { try picture.tree.step() }
      observed.observer.queue.resume()
      try #require(await observed.recovers())
      try await picture.follow()
    }
    #expect(observed.warnings.map(\.code) == [.queueOverflowed])
  }

  /// More events than the kernel keeps, on two files by turns: it makes one of two that are alike.
  private func fillQueue(of observed: ObservedFolder) throws {
    let limit = try #require(Inotify.queueLimit)
    let files = try ["filler-1", "filler-2"].map { name in
      try Descriptor.open(observed.path.appending(name), O_WRONLY | O_CREAT, mode: 0o644).release()
    }
    defer { for file in files { close(file) } }
    for number in 0..<(limit + 16) { try writeAll([0x78], to: files[number % 2]) }
  }
}

/// A tree in which random things happen, and the picture that follows what is reported of it.
private struct FollowedTree {
  let observed: ObservedFolder
  var tree: RandomTree
  private let seed: UInt64
  private let outside: TemporaryDirectory
  private var picture = TreePicture()

  init(by backend: BackendUnderTest, seed: UInt64) async throws {
    self.seed = seed
    outside = try TemporaryDirectory()
    observed = try await ObservedFolder(by: backend)
    // Every other seed gives no folder a name that another has had.
    tree = RandomTree(
      in: observed.path, outside: outside.path, seed: seed,
      reusesFolderNames: seed.isMultiple(of: 2))
  }

  /// Follows what has been reported, and compares.
  mutating func follow() async throws {
    let batches = try await observed.settle()
    try picture.apply(batches, trusting: .foldersAreRead)
    let differences = picture.differences(from: try TreePicture(of: observed.path))
    if differences.isEmpty { return tree.forgetLog() }
    Issue.record(
      """
      seed \(seed), after \(tree.count) steps, the last of which were
        \(tree.log.joined(separator: "\n  "))
      of which was reported
        \(batches.map { $0.changes.map(text).joined(separator: "\n  ") }.joined(separator: "\n  --\n  "))
      the picture is not true:
        \(differences.joined(separator: "\n  "))
      """)
    throw Untrue()
  }

  private struct Untrue: Error {}

  private func text(_ change: ChangeBatch.Change) -> String {
    let origin = change.from.map { " from \($0)" } ?? ""
    return "\(change.kind) \(change.path) \(change.type)\(origin)"
  }
}
