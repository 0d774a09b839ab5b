import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// An observer of a fresh directory, with its events.
private final class Observed: Sendable {
  let directory: TemporaryDirectory
  let recorder = EventRecorder()
  let observer: FileObserver

  init(
    _ names: [String] = [""], options: ObserverOptions = ObserverOptions(),
    prepare: (TemporaryDirectory) throws -> Void = { _ in }
  ) async throws {
    directory = try TemporaryDirectory()
    try prepare(directory)
    #expect(await clockTicks())
    let directory = directory
    observer = try FileObserver(paths: names.map { directory[$0] }, options: options)
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
  }

  deinit {
    observer.stop()
  }

  /// Waits until a new file is reported. Earlier changes have been reported then.
  func isUpToDate() async throws -> Bool {
    let name = "mark-\(recorder.events.count)"
    try directory.write(to: name)
    return await recorder.sees(directory[name])
  }

  func kinds(of name: String) -> [ChangeBatch.Kind] {
    recorder.changes.filter { $0.path == directory[name] }.map(\.kind)
  }
}

struct FileObserverTests {
  @Test func `readiness reports the backend and the number of watches`() async throws {
    let observed = try await Observed { try $0.makeDirectories("a/b") }
    let readiness = try #require(observed.recorder.readiness)
    #expect(readiness.watches == 3)
    #expect(readiness.backend == "inotify")
  }

  @Test func `creation, writes, renames and removal of a file are reported`() async throws {
    let observed = try await Observed()
    let (directory, recorder) = (observed.directory, observed.recorder)
    try directory.write(to: "f")
    #expect(await recorder.sees(.created, directory["f"]))
    try directory.append("more", to: "f")
    #expect(await recorder.sees(.modified, directory["f"]))
    try directory.rename("f", to: "g")
    #expect(await recorder.sees(.renamed, directory["g"]))
    #expect(recorder.changes.last?.from == directory["f"])
    try directory.remove("g")
    #expect(await recorder.sees(.removed, directory["g"]))
    #expect(recorder.changes.last?.type == .unknown)
  }

  @Test func `batches are numbered, and have one change for each path`() async throws {
    let observed = try await Observed()
    for number in 0..<50 { try observed.directory.write(to: "f\(number)") }
    #expect(try await observed.isUpToDate())
    let batches = observed.recorder.batches
    #expect(batches.map(\.number) == Array(1...batches.count))
    #expect(batches.allSatisfy { Set($0.changes.map(\.path)).count == $0.changes.count })
    #expect(batches.allSatisfy { !$0.overflow })
    #expect((0..<50).allSatisfy { !observed.kinds(of: "f\($0)").isEmpty })
  }

  @Test func `created, moved and renamed directories are watched`() async throws {
    let outside = try TemporaryDirectory()
    try outside.makeDirectories("tree/x")
    let observed = try await Observed()
    let (directory, recorder) = (observed.directory, observed.recorder)
    try directory.makeDirectories("a/b/c")
    try directory.write(to: "a/b/c/f")
    #expect(await recorder.sees(.created, directory["a/b/c/f"]))
    try outside.rename("tree", to: "tree", in: directory)
    #expect(await recorder.sees(.created, directory["tree/x"]))
    try directory.rename("tree", to: "a/t")
    try directory.write(to: "a/t/x/f")
    #expect(await recorder.sees(.created, directory["a/t/x/f"]))
    #expect(!recorder.changes.contains { $0.path == directory["tree/x/f"] })
  }

  @Test func `a single file is watched across saves, and nothing beside it`() async throws {
    let observed = try await Observed(["f"]) { try $0.write(to: "f") }
    for round in 1...5 {
      try observed.directory.write(to: "t")
      try observed.directory.rename("t", to: "f")
      #expect(await eventually { observed.recorder.batches.count == round })
    }
    #expect(Set(observed.recorder.changes.map(\.path)) == [observed.directory["f"]])
  }

  @Test func `changes of the target of a watched link are reported`() async throws {
    let observed = try await Observed(["link"]) {
      try $0.write(to: "real")
      try $0.link("link", to: "real")
    }
    try observed.directory.append("x", to: "real")
    #expect(await observed.recorder.sees(.modified, observed.directory["link"]))
  }

  @Test func `a new target of a watched link is reported, and watched from then on`()
    async throws
  {
    let observed = try await Observed(["link"]) {
      try $0.write(to: "old")
      try $0.makeDirectories("other")
      try $0.write(to: "other/new")
      try $0.link("link", to: "old")
    }
    let link = observed.directory["link"]
    try observed.directory.link("next", to: "other/new")
    try observed.directory.rename("next", to: "link")
    #expect(await eventually { observed.recorder.batches.count == 1 })
    try observed.directory.append("x", to: "old")
    try observed.directory.append("x", to: "other/new")
    #expect(await eventually { observed.recorder.batches.count == 2 })
    #expect(observed.recorder.changes.map(\.path) == [link, link])
  }

  /// As `current` of a deployment.
  @Test(arguments: ["current/f", "current/sub"])
  func `a root behind a link is watched where the link leads`(root: String) async throws {
    let observed = try await Observed([root]) {
      for release in ["1", "2"] {
        try $0.makeDirectories(release + "/sub")
        try $0.write(to: release + "/f")
        try $0.write(to: release + "/sub/f")
      }
      try $0.link("current", to: "1")
    }
    let (directory, recorder) = (observed.directory, observed.recorder)
    for release in ["2", "1"] {
      let count = recorder.batches.count
      try directory.link("next", to: release)
      try directory.rename("next", to: "current")
      #expect(await eventually { recorder.batches.count > count })
      let changes = recorder.batches.last?.changes ?? []
      #expect(changes.allSatisfy { $0.path.isWithin(directory[root]) })
      let next = recorder.batches.count
      let file = root.hasSuffix("f") ? "f" : "sub/f"
      try directory.append("x", to: release == "2" ? "1/" + file : "2/" + file)
      try directory.append("x", to: release + "/" + file)
      #expect(await eventually { recorder.batches.count == next + 1 })
      #expect(recorder.batches.last?.changes.map(\.path) == [directory["current/" + file]])
    }
    try directory.remove("current")
    #expect(await recorder.sees(.removed, directory[root]))
    try directory.link("current", to: "2")
    #expect(await recorder.sees(.created, directory[root]))
  }

  @Test func `a root that is removed and created again stays watched`() async throws {
    let observed = try await Observed(["root"]) { try $0.makeDirectories("root") }
    let (directory, recorder) = (observed.directory, observed.recorder)
    try directory.remove("root")
    #expect(await recorder.sees(.removed, directory["root"]))
    try directory.makeDirectories("root")
    try directory.write(to: "root/f")
    #expect(await recorder.sees(.created, directory["root/f"]))
  }

  @Test func `only the requested kinds of change are reported`() async throws {
    let observed = try await Observed(options: ObserverOptions(kinds: [.created, .metadata]))
    let (directory, recorder) = (observed.directory, observed.recorder)
    try directory.write(to: "f")
    #expect(await recorder.sees(.created, directory["f"]))
    try directory.append("x", to: "f")
    try directory.remove("f")
    #expect(try await observed.isUpToDate())
    #expect(observed.kinds(of: "f") == [.created])
  }

  @Test func `a change of metadata is reported only if requested`() async throws {
    let observed = try await Observed { try $0.write(to: "f") }
    // Until then, a recent change cannot be distinguished from one before the start.
    #expect(try await observed.isUpToDate())
    try observed.directory.setMode(0o600, of: "f")
    #expect(try await observed.isUpToDate())
    #expect(observed.kinds(of: "f") == [])
  }

  @Test func `a loop of links is scanned in finite time`() async throws {
    let observed = try await Observed {
      try $0.makeDirectories("x")
      try $0.link("x/up", to: "..")
      try $0.link("root", to: "/")
    }
    #expect(observed.recorder.readiness?.watches == 2)
  }

  @Test func `every stream receives all changes, and ends at the stop`() async throws {
    let observed = try await Observed()
    let streams = [observed.observer.batches, observed.observer.batches]
    try observed.directory.write(to: "f")
    #expect(await observed.recorder.sees(observed.directory["f"]))
    await observed.observer.stop()
    for stream in streams {
      var paths: [Path] = []
      for try await batch in stream { paths += batch.changes.map(\.path) }
      #expect(Set(paths) == [observed.directory["f"]])
    }
    for try await _ in observed.observer.batches {
      Issue.record("a stopped observer has no batches")
    }
  }

  @Test func `nothing is delivered after the stop`() async throws {
    let observed = try await Observed()
    let witness = EventRecorder()
    let other = try FileObserver(paths: [observed.directory.path])
    try other.start(witness.handler, onFailure: witness.failureHandler)
    #expect(await witness.isReady())
    await observed.observer.stop()
    await observed.observer.stop()
    try observed.directory.write(to: "late")
    #expect(await witness.sees(observed.directory["late"]))
    #expect(observed.recorder.changes.isEmpty)
    await other.stop()
  }

  @Test func `an observer stops when it is released`() async throws {
    let directory = try TemporaryDirectory()
    let recorder = EventRecorder()
    var observer: FileObserver? = try FileObserver(paths: [directory.path])
    weak let held = observer
    try observer?.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    observer = nil
    #expect(await eventually { held == nil })
  }

  @Test func `the error for a missing path names it`() throws {
    let directory = try TemporaryDirectory()
    let error = #expect(throws: ObserverError.self) {
      try FileObserver(paths: [directory.path, directory["none"]])
    }
    #expect(error?.code == .pathUnavailable)
    #expect(error?.path == directory["none"])
    #expect(error?.advice == "check the path, or watch the directory in which it will be created")
    let cause = "cannot watch \(directory["none"]): No such file or directory"
    #expect(error?.description == "\(cause); \(error?.advice ?? "")")
  }
}

struct FileObserverStartTests {
  @Test func `no change during the start is lost`() async throws {
    let directory = try TemporaryDirectory()
    for number in 0..<300 {
      try directory.makeDirectories("d\(number)")
      try directory.write(to: "d\(number)/f")
    }
    let recorder = EventRecorder()
    let observer = try FileObserver(paths: [directory.path])
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    // Files in every part of the tree, until long after it is watched.
    var written: Set<Path> = []
    for number in 0..<300 {
      try directory.append("x", to: "d\(number)/f")
      try directory.write(to: "d\(299 - number)/new")
      written.formUnion([directory["d\(number)/f"], directory["d\(299 - number)/new"]])
    }
    #expect(
      await eventually { written.isSubset(of: Set(recorder.changes.map(\.path))) })
    await observer.stop()
  }

  @Test func `changes since a time before the start are reported`() async throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("d/e")
    try directory.write(to: "d/e/old")
    try directory.write(to: "d/e/older")
    #expect(await clockTicks())
    let start = FileTime.now()
    try directory.append("x", to: "d/e/old")
    try directory.write(to: "d/e/new")
    let recorder = EventRecorder()
    let observer = try FileObserver(paths: [directory.path])
    try observer.start(countingFrom: start, recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.sees(.modified, directory["d/e/old"]))
    #expect(await recorder.sees(.created, directory["d/e/new"]))
    #expect(!recorder.changes.contains { $0.path == directory["d/e/older"] })
    await observer.stop()
  }

  @Test func `a warning says what happened, why, and what to do`() {
    #expect(
      ObserverWarning.watchLimitReached(watched: 60_000, unwatched: 10_000).description
        == "inotify watch limit reached: of 70000 directories, 60000 are watched and 10000 are "
        + "polled; raise the limit: sudo sysctl fs.inotify.max_user_watches=262144")
    #expect(
      ObserverWarning.unreadableDirectory("/a\u{1B}", SystemError(call: "open", code: EACCES))
        .description
        == "cannot read /a\\u{1B}: Permission denied; changes in it are not reported")
  }
}
