import FileObservation
import SystemCalls
import TestSupport
import Testing

/// Random renames with random filters and ignore rules. The decisions of `--explain` before and
/// after each burst are the expectation.
struct RenameFuzzTests {
  /// The seeds of every run, or the requested one.
  private static let seeds: [UInt64] =
    environmentVariable("WATCHRUN_SEED").flatMap(UInt64.init).map { [$0] }
    ?? Array(1...UInt64(Effort.count(12, quick: 2)))
  private static let turnstile = Turnstile(places: 6)

  @Test(arguments: seeds, backendsUnderTest)
  func `random renames are reported exactly as far as filters and ignore rules include them`(
    seed: UInt64, backend: BackendUnderTest
  ) async throws {
    try await Self.turnstile.pass {
      var fuzz = RenameFuzz(seed: seed, backend: backend)
      try await fuzz.run(bursts: Effort.count(20, quick: 4))
      if let report = try await fuzz.report() { Issue.record("\(report)") }
    }
  }
}

/// The fuzz of one seed with one backend.
private struct RenameFuzz {
  private let seed: UInt64
  private let backend: BackendUnderTest
  private var fuzzer: ScriptFuzzer
  private var burstCount = 0
  private var failures: [(script: FuzzedScript, outcome: Outcome)] = []

  init(seed: UInt64, backend: BackendUnderTest) {
    self.seed = seed
    self.backend = backend
    fuzzer = ScriptFuzzer(seed: seed)
  }

  /// Runs several bursts in each of several trees. Continues with a new observer after a failure,
  /// so that none is a consequence of another.
  mutating func run(bursts: Int) async throws {
    while burstCount < bursts {
      var script = fuzzer.script()
      var trial = try await Trial(&script, by: backend)
      for _ in 0..<min(4, bursts - burstCount) {
        burstCount += 1
        script.preparation = try trial.rehearsed.preparation()
        script.burst = []
        try trial.rehearsed.beginBurst()
        let size = fuzzer.burstSize()
        for _ in 0..<(size * 3) where script.burst.count < size {
          guard let operation = fuzzer.operation(in: trial.rehearsed.listing) else { continue }
          if try await trial.rehearsed.perform(operation) { script.burst.append(operation) }
        }
        let outcome = try await trial.outcome(of: script.burst)
        if outcome.faults.isEmpty { continue }
        failures.append((script, outcome))
        script.preparation = try trial.rehearsed.preparation()
        trial = try await Trial(&script, by: backend)
      }
    }
  }

  /// The number of failures, and the first one as a script, shortened while it still fails.
  func report() async throws -> String? {
    guard var (script, outcome) = failures.first else { return nil }
    let kinds = failures.map { Set($0.outcome.faults.map(\.kind)).sorted().joined(separator: "+") }
    let counts = Dictionary(grouping: kinds) { $0 }.map { "\($0.value.count) × \($0.key)" }.sorted()
    let head =
      "seed \(seed), \(backend.name): \(failures.count) of \(burstCount) bursts failed"
      + " (\(counts.joined(separator: ", ")))"
    let isShortened = try await shorten(&script, &outcome)
    let remark =
      isShortened
      ? "the first one, shortened:" : "the first one, which a fresh observer does not repeat:"
    return """
      \(head); \(remark)
      \(script.text.indented)
      wrong is
      \(outcome.faults.map(\.description).joined(separator: "\n").indented)
      reported was
      \(outcome.reported.joined(separator: "\n").indented)
      """
  }

  /// Shortens a failing script. Returns false if it does not fail with a new observer.
  private func shorten(
    _ script: inout FuzzedScript, _ outcome: inout Outcome
  ) async throws -> Bool {
    let kind = outcome.faults.first?.kind
    func fails(_ script: FuzzedScript) async throws -> (FuzzedScript, Outcome)? {
      var script = script
      let outcome = try await Trial.outcome(of: &script, by: backend)
      return outcome.faults.contains { $0.kind == kind } ? (script, outcome) : nil
    }
    guard let whole = try await fails(script) else { return false }
    (script, outcome) = whole
    // Lines that were needed are not tried again.
    var needed = 0
    for _ in 0..<60 {
      guard needed < script.lineCount else { break }
      if let shorter = try await fails(script.without(line: needed)) {
        (script, outcome) = shorter
      } else {
        needed += 1
      }
    }
    return true
  }
}

/// The outcome of a burst.
private struct Outcome {
  var faults: [Follower.Fault]
  var reported: [String]
}

/// An observed tree and its rehearsal.
private struct Trial {
  var rehearsed: RehearsedTree
  private let observed: ObservedDirectory
  private var follower: Follower

  init(_ script: inout FuzzedScript, by backend: BackendUnderTest) async throws {
    rehearsed = try await RehearsedTree(&script)
    let (settings, preparation) = (script.settings, script.preparation)
    observed = try await ObservedDirectory(
      by: backend,
      options: { directory in
        var options = settings.options(in: directory)
        options.quietPeriod = .fixed(.milliseconds(20))
        return options
      },
      prepare: { directory in
        for operation in preparation { try await operation.perform(in: directory) }
      })
    follower = try Follower(
      of: observed.path, knowing: Counting(settings, in: observed.path))
  }

  /// Runs a script with a new observer. Impossible operations are removed from it.
  static func outcome(
    of script: inout FuzzedScript, by backend: BackendUnderTest
  ) async throws -> Outcome {
    var trial = try await Trial(&script, by: backend)
    var possible: [Operation] = []
    for operation in script.burst where try await trial.rehearsed.perform(operation) {
      possible.append(operation)
    }
    script.burst = possible
    return try await trial.outcome(of: possible)
  }

  /// Performs the rehearsed operations without a pause.
  mutating func outcome(of burst: [Operation]) async throws -> Outcome {
    for operation in burst { try await operation.perform(in: observed.path) }
    let batches = try await observed.settle()
    let directory = observed.path
    let names = Dictionary(
      uniqueKeysWithValues: rehearsed.names.map { (directory.appending($0.key.bytes), $0.value) })
    var outcome = Outcome(faults: try follower.follow(batches, names: names), reported: [])
    for batch in batches {
      outcome.reported += ["batch \(batch.number)"]
      outcome.reported += batch.changes.map { "  " + ScriptRunner.text($0, directory) }
    }
    return outcome
  }
}

extension String {
  fileprivate var indented: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
      .joined(separator: "\n")
  }
}
