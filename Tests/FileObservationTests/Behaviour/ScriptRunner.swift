import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Runs a script, and compares the reports with its expectations.
struct ScriptRunner {
  /// - Parameter isInBase: Whether the directory of the script is the base, as the current directory
  ///   is.
  static func run(
    _ script: Script, _ file: String, by backend: BackendUnderTest, isInBase: Bool = false
  ) async throws {
    let observed = try await ObservedDirectory(
      by: backend, script.settings.observedRoots, isBase: isInBase,
      options: { script.settings.options(in: $0) },
      prepare: { directory in
        for operation in script.preparation { try await operation.perform(in: directory) }
      })
    var follower =
      script.hasFollower
      ? try Follower(
        of: observed.path, knowing: Counting(script.settings, in: observed.path)) : nil
    var existing = try TreeMirror(of: observed.path)
    for step in script.steps {
      switch step {
      case .perform(let operation): try await operation.perform(in: observed.path)
      case .settle: _ = try await observed.settle(keepsBatches: true)
      case .expect(let expectation):
        let batches = try await observed.settle()
        check(
          batches, expectation.changes(for: backend.name), existing: Set(existing.nodes.keys),
          by: backend, in: observed.path, "\(file):\(expectation.line)")
        existing = try TreeMirror(of: observed.path)
        try follower?.startAgain()
      case .follow(let line):
        let batches = try await observed.settle()
        guard let faults = try follower?.follow(batches), !faults.isEmpty else { continue }
        let changes = batches.flatMap(\.changes).map { "  \(text($0, observed.path))" }
        Issue.record(
          """
          \(file):\(line): a consumer of the reports is wrong
          \(faults.map { "  \($0)" }.joined(separator: "\n"))
          reported was
          \(changes.joined(separator: "\n"))
          """)
      }
    }
    #expect(observed.warnings.isEmpty, "\(file)")
  }

  private static func check(
    _ batches: [ChangeBatch], _ expected: [ExpectedChange], existing: Set<Path>,
    by backend: BackendUnderTest, in directory: Path, _ where_: String
  ) {
    for batch in batches {
      let paths = batch.changes.map(\.path)
      #expect(Set(paths).count == paths.count, "\(where_): each path once in a batch")
      #expect(!batch.overflow, "\(where_)")
    }
    let reported = netChanges(of: batches, existing: existing)
    var unexpected = reported
    var missing: [ExpectedChange] = []
    for change in expected {
      if let index = unexpected.firstIndex(where: { change.isMet(by: $0, in: directory) }) {
        unexpected.remove(at: index)
      } else if !change.isOptional {
        missing.append(change)
      }
    }
    if backend.mayMissRenames {
      let renames = expected.compactMap { Rename($0, in: directory) }
      unexpected.removeAll { change in renames.contains { $0.mayShow(as: change) } }
      missing.removeAll { change in
        let path = place(change.path, in: directory)
        // What was renamed to it and on may have been found there meanwhile.
        let isPassed = reported.contains { found in
          found.from == path && renames.contains { found.path.isWithin($0.new) }
        }
        return change.kinds == [.removed] && isPassed
          || renames.contains { path.isWithin($0.new) } && reported.contains { $0.path == path }
      }
    }
    if missing.isEmpty && unexpected.isEmpty { return }
    let lines =
      missing.map { "  missing: \($0)" }
      + unexpected.map { "  not expected: \(text($0, directory))" }
    Issue.record("\(where_): reported was something else\n\(lines.joined(separator: "\n"))")
  }

  /// The alternatives to a rename that may have been found in parts.
  private struct Rename {
    let old: Path
    let new: Path

    init?(_ change: ExpectedChange, in directory: Path) {
      guard change.kinds.contains(.renamed), let origin = change.origin else { return nil }
      old = place(origin, in: directory)
      new = place(change.path, in: directory)
    }

    func mayShow(as change: ChangeBatch.Change) -> Bool {
      switch change.kind {
      case .removed: change.path.isWithin(old)
      case .created, .modified, .renamed: change.path.isWithin(new)
      case .metadata: false
      }
    }
  }

  /// The net changes of several batches, between which the burst may have been divided anywhere.
  ///
  /// - Parameter existing: The paths before the first of them.
  static func netChanges(
    of batches: [ChangeBatch], existing: Set<Path> = []
  ) -> [ChangeBatch.Change] {
    if batches.count == 1 { return batches[0].changes }
    var composition = BatchComposition(existing: existing)
    for batch in batches { composition.add(batch) }
    return composition.netChanges()
  }

  static func text(_ change: ChangeBatch.Change, _ directory: Path) -> String {
    func name(_ path: Path) -> String { (path.relative(to: directory) ?? path).description }
    let origin = change.from.map { " from \(name($0))" } ?? ""
    return "\(change.kind) \(name(change.path)) \(change.type)\(origin)"
  }
}

extension ExpectedChange: CustomStringConvertible {
  var description: String {
    let kinds = kinds.map(\.rawValue).sorted().joined(separator: "|")
    let origin = origin.map { " from \(Path(bytes: $0))" } ?? ""
    return "\(kinds) \(Path(bytes: path)) \(type)\(origin)"
  }
}

extension Script.Settings {
  var observedRoots: [ObservedDirectory.Root] {
    roots.isEmpty
      ? [.init(path: [])] : roots.map { .init(path: $0.path, isRecursive: !$0.isShallow) }
  }

  func options(in directory: Path) -> ObserverOptions {
    // The marks in `ObservedDirectory` must pass the filter. Filters that only exclude let them
    // pass.
    let hasOnlyExceptions = filter.allSatisfy { $0.first == UInt8(ascii: "!") }
    let marks = hasOnlyExceptions ? [] : [Array("*.mark".utf8)]
    let filter = PathFilter(
      base: directory, ignore: ignore.compactMap { GlobPattern(line: $0) },
      filter: (filter + marks).compactMap { GlobPattern(line: $0) },
      extensionBytes: extensions.isEmpty ? [] : extensions + [Array("mark".utf8)])
    return ObserverOptions(
      filter: filter, quietPeriod: .fixed(.milliseconds(50)), kinds: kinds,
      followsLinks: followsLinks)
  }
}
