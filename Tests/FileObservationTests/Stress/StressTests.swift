import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Operations of tools that change many files, compared with the tree afterwards. Serialized, and
/// with pauses, for the sake of tests with deadlines.
@Suite(.serialized)
struct StressTests {
  @Test(arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `each part of a tree that is copied in is reported`(backend: BackendUnderTest) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await stress.run("cp -r ../tree copy")
    try await stress.run("cp -r copy again && rm -r copy")
    try await stress.run("rm -r again")
  }

  @Test(.enabled(if: isInstalled("tar")), arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `each part of an unpacked archive is reported`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await shell("tar cf ../tree.tar -C .. tree", in: stress.observed.path)
    try await stress.run("tar xf ../tree.tar")
    // Each file is replaced by another.
    try await stress.run("tar xf ../tree.tar")
  }

  @Test(arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `trees that are moved in and out are reported`(backend: BackendUnderTest) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    for _ in 0..<Effort.count(5, quick: 1) {
      try await stress.run("mv ../tree here")
      try await stress.run("mkdir -p a/b && mv here a/b/there")
      try await stress.run("mv a/b/there ../tree && rm -r a")
    }
  }

  @Test(.enabled(if: isInstalled("git")), arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `each file of a cloned repository is reported`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await shell(
      "cd ../tree && git init -q . && git add . && git commit -qm first", in: stress.observed.path)
    try await stress.run("git clone -q ../tree clone")
  }

  @Test(.enabled(if: isInstalled("git")), arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `each file of a checkout is reported, in few batches`(
    backend: BackendUnderTest
  ) async throws {
    let files = Int(Double(Effort.count(2000, quick: 200)) * backend.effort)
    let stress = try await Stress(
      by: backend,
      prepare: { directory in
        try await shell(
          """
          git init -q . && git checkout -q -b one
          for f in $(seq \(files / 20)); do
            mkdir d$f; for n in $(seq 20); do echo one > d$f/n$n; done
          done
          git add . && git commit -qm one && git checkout -q -b other
          for f in $(seq 1 2 \(files / 20)); do
            for n in $(seq 20); do echo other > d$f/n$n; done; git mv -k d$f/n1 d$f/new
          done
          git rm -qr d2 && mkdir -p more/x && echo more > more/x/f
          git add . && git commit -qm other
          """, in: directory)
      })
    for branch in ["one", "other"] {
      let batches = try await stress.run("git checkout -q \(branch)")
      #expect(batches.count <= 10)
    }
  }

  @Test(arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `nested directories that are created as fast as possible are reported`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend)
    let chains = (0..<Int(Double(Effort.count(300, quick: 30)) * backend.effort)).map {
      "c\($0 % 40)/\($0)/x/y/z"
    }
    try await stress.run {
      for chain in chains {
        try File.makeDirectories(stress.observed.path.appending(chain))
        try File.write(chain, to: stress.observed.path.appending(chain + "/f"))
      }
    }
    // All of them must be watched now.
    try await stress.run {
      for chain in chains { try File.write("x", to: stress.observed.path.appending(chain + "/f")) }
    }
  }

  @Test(arguments: Effort.rows(backendsUnderTest, quick: 2))
  func `thousands of temporary files hide no edit and lead to no wrong path`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(
      by: backend, prepare: { try File.write("0", to: $0.appending("keep")) })
    let path = stress.observed.path
    let rounds = Int(Double(Effort.count(10_000, quick: 200)) * backend.effort)
    try await stress.run(transient: {
      $0 == path.appending("gone") || $0.isWithin(path.appending("d"))
    }) {
      for round in 0..<rounds {
        if round.isMultiple(of: 50) { await Task.yield() }
        try File.write("x", to: path.appending("gone"))
        try File.remove(path.appending("gone"))
        if round.isMultiple(of: 10) {
          try File.makeDirectory(path.appending("d"))
          try File.write("x", to: path.appending("d/f"))
          try File.removeTree(path.appending("d"))
          try File.write("\(round)", to: path.appending("keep"))
        }
      }
    }
    let kept = stress.observed.readiness?.watches
    #expect(kept != nil)
    try await stress.run { try File.write("last", to: path.appending("keep")) }
  }

  /// Creates a tree beside the observed directory.
  private func makeTree(in directory: Path, _ backend: BackendUnderTest) throws {
    let tree = (directory.parent ?? "/").appending("tree")
    for number in 0..<Int(Double(Effort.count(40, quick: 8)) * backend.effort) {
      let inner = tree.appending("d\(number % 12)/e\(number)/f")
      try File.makeDirectories(inner)
      for file in 0..<15 { try File.write("\(number) \(file)", to: inner.appending("n\(file)")) }
    }
  }
}

/// An observed directory, and a mirror that follows the reports.
private final class Stress {
  let observed: ObservedDirectory
  private var mirror: TreeMirror

  init(
    by backend: BackendUnderTest, prepare: (Path) async throws -> Void = { _ in }
  ) async throws {
    observed = try await ObservedDirectory(by: backend, prepare: prepare)
    mirror = try TreeMirror(of: observed.path, isReported: Self.isReported)
  }

  /// Runs a shell command in the directory.
  @discardableResult
  func run(_ line: String) async throws -> [ChangeBatch] {
    try await run(line) { try await shell(line, in: self.observed.path) }
  }

  /// Lets `body` change the tree. A consumer of the reports must know the tree afterwards, and no
  /// path may be reported that never existed.
  @discardableResult
  func run(
    _ what: String = "", transient: (Path) -> Bool = { _ in false }, _ body: () async throws -> Void
  ) async throws -> [ChangeBatch] {
    let before = mirror
    try await body()
    let batches = try await observed.settle()
    try mirror.apply(batches, trusting: .eachPathIsTold)
    let after = try TreeMirror(of: observed.path, isReported: Self.isReported)
    #expect(mirror.differences(from: after).prefix(5) == [], "\(what)")

    let paths = Set(batches.flatMap(\.changes).flatMap { [$0.path, $0.from ?? $0.path] })
    let never = paths.filter {
      before.nodes[$0] == nil && after.nodes[$0] == nil && !transient($0)
    }
    #expect(never.map(\.description).sorted().prefix(5) == [], "\(what)")
    // No warnings, except for one overflow if the machine was too busy to read the kernel's queue
    // in time.
    let hasOverflown = observed.observer.statistics.overflows > 0
    #expect(observed.warnings.map(\.code) == (hasOverflown ? [.queueOverflowed] : []), "\(what)")
    mirror = after
    return batches
  }

  /// The contents of `.git` are not reported.
  private static func isReported(_ path: Path) -> Bool {
    !path.lastComponent.elementsEqual(".git".utf8)
  }
}
