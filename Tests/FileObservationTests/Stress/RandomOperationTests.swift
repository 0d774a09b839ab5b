import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A consumer that has listed a tree once and follows the reports knows the current tree.
@Suite(.serialized)
struct RandomOperationTests {
  /// The seeds of every run, or the requested one.
  private static let seeds: [UInt64] =
    environmentVariable("WATCHRUN_SEED").flatMap(UInt64.init).map { [$0] }
    ?? Array(1...UInt64(Effort.count(4, quick: 1)))

  @Test(arguments: seeds, backendsUnderTest)
  func `a mirror that follows the reports stays equal to the tree`(
    seed: UInt64, backend: BackendUnderTest
  ) async throws {
    var mirror = try await FollowedTree(by: backend, seed: seed)
    for round in 1...Int(Double(Effort.count(40, quick: 12)) * backend.effort) {
      for _ in 0..<(round * 2) { try mirror.tree.step() }
      try await mirror.follow()
    }
    #expect(mirror.observed.warnings.isEmpty)
  }

  @Test(arguments: seeds.prefix(3), backendsUnderTest.filter(\.hasKernelQueue))
  func `a mirror is equal to the tree again after an overflow`(
    seed: UInt64, backend: BackendUnderTest
  ) async throws {
    var mirror = try await FollowedTree(by: backend, seed: seed)
    let observed = mirror.observed
    for _ in 0..<Effort.count(5, quick: 2) {
      for _ in 0..<50 { try mirror.tree.step() }
      // Suspended on the queue itself, so that no events are being read.
      observed.observer.queue.sync { observed.observer.queue.suspend() }
      for _ in 0..<20 { try mirror.tree.step() }
      try fillQueue(of: observed)
      for _ in 0..<60 { try mirror.tree.step() }
      observed.observer.queue.resume()
      try #require(await observed.recovers())
      try await mirror.follow()
    }
    #expect(observed.warnings.map(\.code) == [.queueOverflowed])
  }

  /// Causes more events than the kernel keeps, on two files in turn, since it merges equal events.
  private func fillQueue(of observed: ObservedDirectory) throws {
    let limit = try #require(Inotify.queueLimit)
    let files = try ["filler-1", "filler-2"].map { name in
      try Descriptor.open(observed.path.appending(name), O_WRONLY | O_CREAT, mode: 0o644).release()
    }
    defer { for file in files { close(file) } }
    for number in 0..<(limit + 16) { try writeAll([0x78], to: files[number % 2]) }
  }
}

/// A tree with random operations, and a mirror that follows the reports.
private struct FollowedTree {
  let observed: ObservedDirectory
  var tree: RandomTree
  private let seed: UInt64
  private let outside: TemporaryDirectory
  private var mirror = TreeMirror()

  init(by backend: BackendUnderTest, seed: UInt64) async throws {
    self.seed = seed
    outside = try TemporaryDirectory()
    observed = try await ObservedDirectory(by: backend)
    // Every other seed does not reuse names of directories.
    tree = RandomTree(
      in: observed.path, outside: outside.path, seed: seed,
      reusesDirectoryNames: seed.isMultiple(of: 2))
  }

  /// Applies the reports to the mirror, and compares it with the tree.
  mutating func follow() async throws {
    let batches = try await observed.settle()
    try mirror.apply(batches, trusting: .directoriesAreRead)
    let differences = mirror.differences(from: try TreeMirror(of: observed.path))
    if differences.isEmpty { return tree.forgetLog() }
    Issue.record(
      """
      seed \(seed), after \(tree.count) steps, the last of which were
        \(tree.log.joined(separator: "\n  "))
      reported:
        \(batches.map { $0.changes.map(text).joined(separator: "\n  ") }.joined(separator: "\n  --\n  "))
      the mirror differs from the tree:
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
