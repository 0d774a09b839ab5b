import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

extension OwedChanges {
  /// Adds a batch that these tasks watch.
  mutating func add(_ batch: ChangeBatch, to tasks: [String]) {
    add(tasks.map { ($0, batch.changes) }, overflow: batch.overflow)
  }
}

struct OwedChangesTests {
  private var owed = OwedChanges()

  private mutating func add(
    _ changes: ChangeBatch.Change..., overflow: Bool = false, to task: String = "t"
  ) {
    owed.add(ChangeBatch(number: 1, changes: changes, overflow: overflow), to: [task])
  }

  private mutating func modify(_ paths: Path..., task: String = "t") {
    owed.add(ChangeBatch(number: 1, changes: paths.map { .of($0, .modified) }), to: [task])
  }

  /// What the next run receives.
  private func changes(_ task: String = "t") -> [ChangeBatch.Change] {
    owed.trigger(of: task).changes
  }

  @Test mutating func `what was missed in a build is not, once it is saved or renamed`() {
    owed.miss(["a", "b", "c"], by: "t")
    modify("a")
    add(.of("d", .renamed, from: "b"))
    #expect(owed.missed == ["t": ["c"]])
  }

  // MARK: Net changes

  @Test mutating func `paths stay in the order in which they first appeared, each once`() {
    modify("b", "a")
    modify("c", "a", "d")
    #expect(owed.trigger(of: "t") == .change("b", "a", "c", "d"))
  }

  @Test(
    arguments: [
      (.created, .modified, .created), (.created, .metadata, .created),
      (.created, .removed, .removed), (.modified, .removed, .removed),
      (.modified, .metadata, .modified), (.metadata, .modified, .modified),
      (.removed, .created, .modified), (.removed, .removed, .removed),
      (.modified, .modified, .modified), (.renamed, .removed, .removed),
    ] as [(ChangeBatch.Kind, ChangeBatch.Kind, ChangeBatch.Kind)])
  mutating func `two changes of a path become one`(
    first: ChangeBatch.Kind, later: ChangeBatch.Kind, net: ChangeBatch.Kind
  ) {
    add(.of("f", first))
    add(.of("f", later))
    #expect(changes() == [.of("f", net)])
    #expect(ChangeBatch.Change.of("f", first).followed(by: .of("f", later)) == .of("f", net))
  }

  @Test mutating func `a renamed file that is modified afterwards keeps its origin`() {
    add(.of("b", .renamed, from: "a"))
    modify("b")
    #expect(changes() == [.of("b", .renamed, from: "a")])
  }

  @Test mutating func `what was renamed and then removed is missing at its first path as well`() {
    add(.of("b", .renamed, from: "a"))
    add(.of("b", .removed))
    #expect(changes() == [.of("b", .removed), .of("a", .removed)])
  }

  @Test
  mutating func `another file that takes the place of a renamed one does not hide its former path`()
  {
    add(.of("b", .renamed, from: "a"))
    add(.of("b", .renamed, from: "x"))
    #expect(changes() == [.of("b", .renamed, from: "x"), .of("a", .removed)])
  }

  @Test mutating func `what is renamed twice is renamed from its first path`() {
    add(.of("b", .renamed, from: "a"))
    add(.of("c", .renamed, from: "b"))
    let removal = ChangeBatch.Change(path: "b", kind: .removed, type: .file)
    #expect(changes() == [removal, .of("c", .renamed, from: "a")])
    add(.of("c", .removed))
    #expect(changes() == [removal, .of("c", .removed), .of("a", .removed)])
  }

  @Test mutating func `what is renamed and back is modified`() {
    add(.of("b", .renamed, from: "a"))
    add(.of("a", .renamed, from: "b"))
    #expect(changes().map(\.path) == ["b", "a"])
    #expect(changes().map(\.kind) == [.removed, .modified])
  }

  @Test mutating func `a path that something has left is removed until something is there again`() {
    add(.of("a", .modified))
    add(.of("b", .renamed, from: "a"))
    add(.of("b", .removed))
    #expect(changes().map(\.kind) == [.removed, .removed])
    add(.of("a", .created))
    #expect(changes() == [.of("a", .modified), .of("b", .removed)])
  }

  @Test mutating func `a swap of two names keeps both origins`() {
    add(.of("a", .modified), .of("b", .modified))
    add(.of("a", .renamed, from: "b"), .of("b", .renamed, from: "a"))
    #expect(changes() == [.of("a", .renamed, from: "b"), .of("b", .renamed, from: "a")])
    add(.of("a", .renamed, from: "b"), .of("b", .renamed, from: "a"))
    #expect(changes() == [.of("a", .modified), .of("b", .modified)])
  }

  @Test mutating func `each task has an account of its own`() {
    modify("f", "g", task: "a")
    modify("g", task: "b")
    #expect(owed.start("a", .change) == .change("f", "g"))
    #expect(!owed.owes("a"))
    #expect(owed.trigger(of: "b") == .change("g"))
    #expect(owed.owes("b"))
    #expect(!owed.owes("c"))
    #expect(changes("c").isEmpty)
  }

  @Test mutating func `a path is owed by its present and its former name`() {
    add(.of("b", .renamed, from: "a"))
    for path in ["a", "b"] as [Path] {
      #expect(["s", "t"].contains { owed.owes($0, anyOf: [path]) })
      #expect(owed.owes("t", anyOf: ["x", path]))
      #expect(!owed.owes("s", anyOf: [path]))
      #expect(!owed.owes("s", anyOf: [path]))
    }
    #expect(!owed.owes("t", anyOf: ["x"]))
    #expect(!owed.owes("t", anyOf: ["x"]))
    #expect(!owed.owes("t", anyOf: []))
  }

  @Test mutating func `tasks that watch different parts of a batch share nothing`() {
    let (f, g) = (ChangeBatch.Change.of("f", .modified), ChangeBatch.Change.of("g", .modified))
    owed.add([("a", [f]), ("b", [f, g]), ("c", [f])])
    #expect(changes("a") == [f])
    #expect(changes("b") == [f, g])
    #expect(storage("a") == storage("c") && storage("a") != storage("b"))
  }

  // MARK: Large batches

  private func storage(_ task: String) -> UnsafePointer<ChangeBatch.Change>? {
    changes(task).withUnsafeBufferPointer(\.baseAddress)
  }

  /// The runner asks for it at each step, for all tasks.
  @Test mutating func `what is owed is no copy`() {
    modify("a", "b")
    #expect(storage("t") != nil && storage("t") == storage("t"))
    let before = storage("t")
    let trigger = owed.start("t", .change)
    #expect(trigger.changes.withUnsafeBufferPointer(\.baseAddress) == before)
    owed.interrupt("t")
    #expect(storage("t") == before)
  }

  @Test mutating func `tasks that are owed the same share it, also when more is added`() {
    let names = ["a", "b", "c"]
    modify("first", task: "c")
    for path in ["f", "g"] as [Path] {
      owed.add(ChangeBatch(number: 1, changes: [.of(path, .modified)]), to: names)
      #expect(storage("a") == storage("b"))
    }
    #expect(changes("a").map(\.path) == ["f", "g"])
    #expect(changes("c").map(\.path) == ["first", "f", "g"])
    // One of them alone.
    modify("h", task: "a")
    #expect(changes("b").map(\.path) == ["f", "g"])
  }

  @Test mutating func `what one task sets aside, another does not`() {
    owed.add(ChangeBatch(number: 1, changes: [.of("o", .modified)]), to: ["a", "b"])
    setAside("o", task: "a")
    owed.add(ChangeBatch(number: 2, changes: [.of("f", .modified)]), to: ["a", "b"])
    #expect(changes("a").map(\.path) == ["f", "o"])
    #expect(changes("b").map(\.path) == ["o", "f"])
  }

  // MARK: Starts

  @Test(arguments: [RunTrigger.Reason.start, .change, .key])
  mutating func `a run receives all that is owed, once`(reason: RunTrigger.Reason) {
    modify("f")
    #expect(owed.start("t", reason) == RunTrigger(reason, changes: [.of("f", .modified)]))
    #expect(owed.start("t", reason) == RunTrigger(reason))
  }

  @Test mutating func `a restart receives nothing, and leaves all to the next run`() {
    modify("f")
    #expect(owed.start("t", .restart) == RunTrigger(.restart))
    #expect(owed.start("t", .change) == .change("f"))
  }

  @Test mutating func `a restart after a start that failed receives what that was to receive`() {
    modify("f")
    owed.startFailed("t")
    #expect(owed.start("t", .restart) == RunTrigger(.restart, changes: [.of("f", .modified)]))
    modify("f")
    #expect(owed.start("t", .restart) == RunTrigger(.restart))
  }

  // MARK: Overflows

  @Test mutating func `after an overflow the trigger says so, until a run has received it`() {
    modify("f")
    add(.of("g", .modified), overflow: true)
    modify("h")
    #expect(owed.trigger(of: "t", .key).batch.overflow)
    let trigger = owed.start("t", .change)
    #expect(trigger.batch.overflow)
    #expect(trigger.changes == RunTrigger.change("f", "g", "h").changes)
    modify("f")
    #expect(!owed.trigger(of: "t").batch.overflow)
  }

  @Test mutating func `an overflow is forgotten when all its paths are settled, and not before`() {
    add(.of("f", .modified), .of("g", .modified), overflow: true)
    owed.settle(["f"], to: ["t"])
    #expect(owed.trigger(of: "t").changes == [.of("g", .modified)])
    #expect(owed.trigger(of: "t").batch.overflow)
    owed.settle(["g"], to: ["t"])
    #expect(!owed.owes("t"))
  }

  // MARK: Interrupted runs

  @Test mutating func `a stopped run is owed its changes again, before the later ones`() {
    modify("b", "a")
    _ = owed.start("t", .change)
    modify("c", "a")
    owed.interrupt("t")
    #expect(owed.trigger(of: "t") == .change("b", "a", "c"))
  }

  @Test mutating func `what has stopped a run comes first, and not what the run had written`() {
    modify("a")
    _ = owed.start("t", .change)
    modify("f.o", "f")
    owed.require(["t"], for: ["f"])
    #expect(owed.trigger(of: "t") == .change("f", "f.o"))
    owed.interrupt("t")
    #expect(owed.trigger(of: "t") == .change("f", "a", "f.o"))
    // What is saved before the next run begins is no reason of its own.
    modify("g")
    owed.require(["t"], for: ["g"])
    #expect(owed.start("t", .change) == .change("f", "a", "f.o", "g"))
  }

  @Test mutating func `net changes are made of those of a stopped run and the later ones`() {
    add(.of("f", .removed))
    add(.of("g", .created))
    _ = owed.start("t", .change)
    add(.of("f", .created))
    modify("g")
    owed.interrupt("t")
    #expect(changes() == [.of("f", .modified), .of("g", .created)])
  }

  @Test mutating func `a stopped run that followed an overflow is followed by another such run`() {
    add(.of("f", .modified), overflow: true)
    _ = owed.start("t", .change)
    owed.interrupt("t")
    #expect(owed.start("t", .change).batch.overflow)
  }

  @Test mutating func `a later overflow stays one when the run is stopped`() {
    modify("f")
    _ = owed.start("t", .change)
    add(.of("g", .modified), overflow: true)
    owed.interrupt("t")
    #expect(owed.start("t", .change).batch.overflow)
  }

  @Test mutating func `a stopped run that was signaled is owed the changes of its start as well`() {
    modify("f")
    _ = owed.start("t", .change)
    modify("g")
    #expect(owed.signal("t", .change) == .change("g"))
    owed.interrupt("t")
    #expect(owed.trigger(of: "t") == .change("f", "g"))
  }

  @Test mutating func `a run that has ended, or was interrupted before, is owed nothing`() {
    modify("f")
    _ = owed.start("t", .change)
    owed.ended("t")
    owed.interrupt("t")
    #expect(!owed.owes("t"))
    modify("f")
    _ = owed.start("t", .change)
    owed.interrupt("t")
    _ = owed.start("t", .restart)
    owed.interrupt("t")
    #expect(owed.trigger(of: "t") == .change("f"))
  }

  // MARK: Settled paths

  @Test mutating func `settled paths are owed to none of the tasks, and others stay`() {
    modify("f", "g", task: "a")
    modify("f", task: "b")
    modify("f", task: "c")
    owed.settle(["f", "x"], to: ["a", "b"])
    #expect(owed.trigger(of: "a") == .change("g"))
    #expect(!owed.owes("b"))
    #expect(owed.trigger(of: "c") == .change("f"))
  }

  @Test mutating func `a rename whose new path is settled remains the removal of the former one`() {
    add(.of("b", .renamed, from: "a"))
    owed.settle(["b"], to: ["t"])
    #expect(changes() == [.of("a", .removed)])
    #expect(owed.owes("t", anyOf: ["a"]))
    #expect(!owed.owes("t", anyOf: ["b"]))
  }

  @Test mutating func `a rename whose former path is settled stays`() {
    add(.of("b", .renamed, from: "a"))
    owed.settle(["a"], to: ["t"])
    #expect(changes() == [.of("b", .renamed, from: "a")])
  }

  @Test mutating func `a rename of which both paths are settled is gone`() {
    add(.of("b", .renamed, from: "a"))
    owed.settle(["a", "b"], to: ["t"])
    #expect(!owed.owes("t"))
    #expect(!owed.owes("t", anyOf: ["a"]))
  }

  @Test mutating func `a settled rename is combined with the later change of its former path`() {
    add(.of("b", .renamed, from: "a"))
    add(.of("a", .created))
    owed.settle(["b"], to: ["t"])
    #expect(changes() == [.of("a", .modified)])
  }

  @Test mutating func `what is settled and changes again is owed again`() {
    modify("f")
    owed.settle(["f"], to: ["t"])
    modify("f")
    #expect(owed.start("t", .change) == .change("f"))
  }

  // MARK: Outputs that are set aside

  private mutating func setAside(_ paths: Path..., task: String = "t") {
    owed.setAside(paths, for: [task])
  }

  @Test mutating func `what is set aside stays owed, and requests no run`() {
    modify("o")
    setAside("o")
    #expect(!owed.owes("t"))
    #expect(owed.owes("t", anyOf: ["o"]))
    #expect(owed.owes("t", anyOf: ["o"]))
    #expect(owed.waitingOutputs(of: "t") == [.of("o", .modified)])
    #expect(owed.trigger(of: "t") == .change("o"))
  }

  @Test mutating func `another change requests a run beside what is set aside`() {
    modify("o")
    setAside("o")
    modify("f")
    #expect(owed.owes("t"))
    #expect(owed.waitingOutputs(of: "t") == [.of("o", .modified)])
  }

  @Test(arguments: [RunTrigger.Reason.start, .change, .key])
  mutating func `the next run receives what is set aside, last`(reason: RunTrigger.Reason) {
    modify("o")
    setAside("o")
    modify("f")
    #expect(
      owed.start("t", reason)
        == RunTrigger(reason, changes: [.of("f", .modified), .of("o", .modified)]))
    #expect(owed.waitingOutputs(of: "t").isEmpty)
    #expect(!owed.owes("t", anyOf: ["o"]))
  }

  @Test mutating func `a signal delivers what is set aside`() {
    modify("o")
    setAside("o")
    #expect(owed.signal("t", .change) == .change("o"))
    #expect(owed.waitingOutputs(of: "t").isEmpty)
  }

  @Test mutating func `a restart settles what is set aside, and nothing else`() {
    modify("o", "f")
    setAside("o")
    #expect(owed.start("t", .restart) == RunTrigger(.restart))
    #expect(!owed.owes("t", anyOf: ["o"]))
    #expect(owed.start("t", .change) == .change("f"))
  }

  @Test mutating func `what is set aside and changes again requests a run`() {
    modify("o")
    setAside("o")
    modify("o")
    #expect(owed.owes("t"))
    #expect(owed.waitingOutputs(of: "t").isEmpty)
  }

  @Test mutating func `only what a task is owed is set aside, for this task`() {
    modify("o", task: "a")
    modify("o", "f", task: "b")
    setAside("o", "x", task: "a")
    #expect(!owed.owes("a"))
    #expect(owed.owes("b"))
    #expect(owed.waitingOutputs(of: "b").isEmpty)
    #expect(!["a", "b"].contains { owed.owes($0, anyOf: ["x"]) })
    modify("x", task: "a")
    #expect(owed.owes("a"))
  }

  @Test mutating func `what is set aside stays so when another path is settled`() {
    modify("o", "f")
    setAside("o")
    owed.settle(["f"], to: ["t"])
    #expect(!owed.owes("t"))
    #expect(owed.waitingOutputs(of: "t") == [.of("o", .modified)])
    owed.settle(["o"], to: ["t"])
    #expect(!owed.owes("t", anyOf: ["o"]))
  }

  @Test mutating func `a stopped run is owed what was set aside before it, with a request`() {
    modify("o")
    setAside("o")
    _ = owed.start("t", .key)
    owed.interrupt("t")
    #expect(owed.trigger(of: "t") == .change("o"))
  }

  @Test mutating func `closed, it returns what is set aside as well`() {
    modify("o")
    setAside("o")
    #expect(owed.close(keeping: [])?.changes == [.of("o", .modified)])
  }

  // MARK: Close

  @Test mutating func `closed, it returns each path once, and owes nothing`() {
    modify("f", "g", task: "b")
    add(.of("f", .created), .of("e", .created), to: "a")
    modify("r", task: "r")
    _ = owed.start("r", .change)
    #expect(
      owed.close(keeping: [])?.changes
        == [.of("f", .created), .of("e", .created), .of("g", .modified)])
    #expect(owed.close(keeping: []) == nil)
    owed.interrupt("r")
    for task in ["a", "b", "r"] { #expect(!owed.owes(task)) }
  }

  @Test mutating func `closed, it keeps all of a kept task`() {
    for task in ["kept", "gone"] {
      modify("o", "f", task: task)
      owed.setAside(["o"], for: [task])
    }
    let all = owed.close(keeping: ["kept"])
    #expect(all?.changes == [.of("f", .modified), .of("o", .modified)], "of those that go")
    #expect(changes("kept") == [.of("f", .modified), .of("o", .modified)])
    #expect(owed.owes("kept"))
    #expect(changes("gone") == [])
  }

  @Test mutating func `closed after an overflow, it says so`() {
    modify("f", task: "a")
    add(.of("g", .modified), overflow: true, to: "b")
    #expect(owed.close(keeping: [])?.overflow == true)
  }

  // MARK: Random sequences

  /// Each path is owed from its change until a run that was not stopped has received it.
  @Test func `no change is lost in random sequences`() {
    for seed in 1...UInt64(Effort.count(2_000, quick: 200)) {
      var random = SeededGenerator(seed: seed)
      var owed = OwedChanges()
      var (expected, received): (Set<Path>, Set<Path>) = ([], [])
      var aside: Set<Path> = []
      for _ in 0..<30 {
        let path = Path("f\(Int.random(in: 0..<6, using: &random))")
        switch Int.random(in: 0..<11, using: &random) {
        case 0..<5:
          let kind = ChangeBatch.Kind.allCases.filter { $0 != .renamed }
          let change = ChangeBatch.Change.of(path, kind.randomElement(using: &random) ?? .modified)
          owed.add(ChangeBatch(number: 1, changes: [change]), to: ["t"])
          expected.insert(path)
          aside.remove(path)
        case 5, 6:
          let trigger = owed.start("t", .change)
          #expect(Set(trigger.changes.map(\.path)) == expected)
          #expect(trigger.changes.count == expected.count)
          (received, expected, aside) = (expected, [], [])
        case 7:
          owed.interrupt("t")
          expected.formUnion(received)
          // With what is owed again, all of it requests a run.
          if !received.isEmpty { aside = [] }
          received = []
        case 8:
          owed.ended("t")
          received = []
        case 9:
          owed.setAside([path], for: ["t"])
          if expected.contains(path) { aside.insert(path) }
        default:
          owed.settle([path], to: ["t"])
          expected.remove(path)
          aside.remove(path)
        }
        #expect(owed.owes("t") == !expected.subtracting(aside).isEmpty)
        #expect(Set(owed.waitingOutputs(of: "t").map(\.path)) == aside)
        for path in expected { #expect(owed.owes("t", anyOf: [path])) }
      }
    }
  }
}
