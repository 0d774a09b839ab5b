import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// What many tools do at once, against what is there afterwards. One after the other, and with
/// pauses: there are other tests that want to be on time.
@Suite(.serialized)
struct StressTests {
  @Test(arguments: backendsUnderTest)
  func `of a tree that is copied in, each part is told of`(backend: BackendUnderTest) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await stress.run("cp -r ../tree copy")
    try await stress.run("cp -r copy again && rm -r copy")
    try await stress.run("rm -r again")
  }

  @Test(.enabled(if: isInstalled("tar")), arguments: backendsUnderTest)
  func `of an archive that is unpacked, each part is told of`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await shell("tar cf ../tree.tar -C .. tree", in: stress.observed.path)
    try await stress.run("tar xf ../tree.tar")
    // Each file is replaced by one of the same name.
    try await stress.run("tar xf ../tree.tar")
  }

  @Test(arguments: backendsUnderTest)
  func `trees that are moved in and out are told of`(backend: BackendUnderTest) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    for _ in 0..<Effort.count(5, quick: 2) {
      try await stress.run("mv ../tree here")
      try await stress.run("mkdir -p a/b && mv here a/b/there")
      try await stress.run("mv a/b/there ../tree && rm -r a")
    }
  }

  @Test(.enabled(if: isInstalled("git")), arguments: backendsUnderTest)
  func `of a repository that is cloned, each file is told of`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend, prepare: { try makeTree(in: $0, backend) })
    try await shell(
      "cd ../tree && git init -q . && git add . && git commit -qm first", in: stress.observed.path)
    try await stress.run("git clone -q ../tree clone")
  }

  /// FAILURES 26.
  @Test(.enabled(if: isInstalled("git")), arguments: backendsUnderTest)
  func `of a branch that is checked out, each file is told of, in few batches`(
    backend: BackendUnderTest
  ) async throws {
    let files = Int(Double(Effort.count(2000, quick: 800)) * backend.effort)
    let stress = try await Stress(
      by: backend,
      prepare: { folder in
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
          """, in: folder)
      })
    for branch in ["one", "other"] {
      let batches = try await stress.run("git checkout -q \(branch)")
      #expect(batches.count <= 10)
    }
  }

  @Test(arguments: backendsUnderTest)
  func `chains of folders made as fast as can be are told of`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(by: backend)
    let chains = (0..<Int(Double(Effort.count(300, quick: 120)) * backend.effort)).map {
      "c\($0 % 40)/\($0)/x/y/z"
    }
    try await stress.run {
      for chain in chains {
        try File.makeFolders(stress.observed.path.appending(chain))
        try File.write(chain, to: stress.observed.path.appending(chain + "/f"))
      }
    }
    // All of them are watched.
    try await stress.run {
      for chain in chains { try File.write("x", to: stress.observed.path.appending(chain + "/f")) }
    }
  }

  /// FAILURES 11.
  @Test(arguments: backendsUnderTest)
  func `ten thousand files that come and go hide no edit and give no wrong path`(
    backend: BackendUnderTest
  ) async throws {
    let stress = try await Stress(
      by: backend, prepare: { try File.write("0", to: $0.appending("keep")) })
    let path = stress.observed.path
    let rounds = Int(Double(Effort.count(10_000, quick: 4_000)) * backend.effort)
    try await stress.run(transient: {
      $0 == path.appending("gone") || $0.isWithin(path.appending("d"))
    }) {
      for round in 0..<rounds {
        if round.isMultiple(of: 50) { await Task.yield() }
        try File.write("x", to: path.appending("gone"))
        try File.remove(path.appending("gone"))
        if round.isMultiple(of: 10) {
          try File.makeFolder(path.appending("d"))
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

  /// A tree beside the watched folder.
  private func makeTree(in folder: Path, _ backend: BackendUnderTest) throws {
    let tree = (folder.parent ?? "/").appending("tree")
    for number in 0..<Int(Double(Effort.count(40, quick: 16)) * backend.effort) {
      let inner = tree.appending("d\(number % 12)/e\(number)/f")
      try File.makeFolders(inner)
      for file in 0..<15 { try File.write("\(number) \(file)", to: inner.appending("n\(file)")) }
    }
  }
}

/// A folder under stress, and the picture that follows what is reported of it.
private final class Stress {
  let observed: ObservedFolder
  private var picture: TreePicture

  init(
    by backend: BackendUnderTest, prepare: (Path) async throws -> Void = { _ in }
  ) async throws {
    observed = try await ObservedFolder(by: backend, prepare: prepare)
    picture = try TreePicture(of: observed.path, isReported: Self.isReported)
  }

  /// Runs a shell line in the folder.
  @discardableResult
  func run(_ line: String) async throws -> [ChangeBatch] {
    try await run(line) { try await shell(line, in: self.observed.path) }
  }

  /// Lets `body` change the tree. Whoever hears only of what is reported must know it afterwards, and
  /// no path may be reported that never was.
  @discardableResult
  func run(
    _ what: String = "", transient: (Path) -> Bool = { _ in false }, _ body: () async throws -> Void
  ) async throws -> [ChangeBatch] {
    let before = picture
    try await body()
    let batches = try await observed.settle()
    try picture.apply(batches, trusting: .eachPathIsTold)
    let after = try TreePicture(of: observed.path, isReported: Self.isReported)
    #expect(picture.differences(from: after).prefix(5) == [], "\(what)")

    let paths = Set(batches.flatMap(\.changes).flatMap { [$0.path, $0.from ?? $0.path] })
    let never = paths.filter {
      before.nodes[$0] == nil && after.nodes[$0] == nil && !transient($0)
    }
    #expect(never.map(\.description).sorted().prefix(5) == [], "\(what)")
    // Nothing is to be wrong. If the machine was too busy to read the kernel's queue in time, then that it
    // has dropped something is told, once.
    let hasOverflown = observed.observer.statistics.overflows > 0
    #expect(observed.warnings.map(\.code) == (hasOverflown ? [.queueOverflowed] : []), "\(what)")
    picture = after
    return batches
  }

  /// What git keeps for itself is not.
  private static func isReported(_ path: Path) -> Bool {
    !path.lastComponent.elementsEqual(".git".utf8)
  }
}
