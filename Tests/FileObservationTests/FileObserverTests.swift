import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// An observer of a fresh folder, and what it has said.
private final class Observed: Sendable {
  let folder: TemporaryDirectory
  let recorder = EventRecorder()
  let observer: FileObserver

  init(
    _ names: [String] = [""], options: ObserverOptions = ObserverOptions(),
    prepare: (TemporaryDirectory) throws -> Void = { _ in }
  ) async throws {
    folder = try TemporaryDirectory()
    try prepare(folder)
    #expect(await clockTicks())
    let folder = folder
    observer = try FileObserver(paths: names.map { folder[$0] }, options: options)
    try observer.start(recorder.handler)
    #expect(await recorder.isReady())
  }

  deinit {
    observer.stop()
  }

  /// Waits until a file that is only made now is told of: what came before it has been told, too.
  func isUpToDate() async throws -> Bool {
    let name = "mark-\(recorder.events.count)"
    try folder.write(to: name)
    return await recorder.sees(folder[name])
  }

  func kinds(of name: String) -> [ChangeBatch.Kind] {
    recorder.changes.filter { $0.path == folder[name] }.map(\.kind)
  }
}

struct FileObserverTests {
  @Test func `says when everything is watched, and by what`() async throws {
    let observed = try await Observed { try $0.makeDirectories("a/b") }
    let readiness = try #require(observed.recorder.readiness)
    #expect(readiness.watches == 3)
    #expect(readiness.backend == "inotify")
  }

  @Test func `tells of a file's life`() async throws {
    let observed = try await Observed()
    let (folder, recorder) = (observed.folder, observed.recorder)
    try folder.write(to: "f")
    #expect(await recorder.sees(.created, folder["f"]))
    try folder.append("more", to: "f")
    #expect(await recorder.sees(.modified, folder["f"]))
    try folder.rename("f", to: "g")
    #expect(await recorder.sees(.renamed, folder["g"]))
    #expect(recorder.changes.last?.from == folder["f"])
    try folder.remove("g")
    #expect(await recorder.sees(.removed, folder["g"]))
    #expect(recorder.changes.last?.type == .unknown)
  }

  @Test func `counts its batches, and tells each path once in one`() async throws {
    let observed = try await Observed()
    for number in 0..<50 { try observed.folder.write(to: "f\(number)") }
    #expect(try await observed.isUpToDate())
    let batches = observed.recorder.batches
    #expect(batches.map(\.number) == Array(1...batches.count))
    #expect(batches.allSatisfy { Set($0.changes.map(\.path)).count == $0.changes.count })
    #expect(batches.allSatisfy { !$0.overflow })
    #expect((0..<50).allSatisfy { !observed.kinds(of: "f\($0)").isEmpty })
  }

  @Test func `follows what is made, moved in and renamed`() async throws {
    let outside = try TemporaryDirectory()
    try outside.makeDirectories("tree/x")
    let observed = try await Observed()
    let (folder, recorder) = (observed.folder, observed.recorder)
    try folder.makeDirectories("a/b/c")
    try folder.write(to: "a/b/c/f")
    #expect(await recorder.sees(.created, folder["a/b/c/f"]))
    try outside.rename("tree", to: "tree", in: folder)
    #expect(await recorder.sees(.created, folder["tree/x"]))
    try folder.rename("tree", to: "a/t")
    try folder.write(to: "a/t/x/f")
    #expect(await recorder.sees(.created, folder["a/t/x/f"]))
    #expect(!recorder.changes.contains { $0.path == folder["tree/x/f"] })
  }

  @Test func `sees a single file through many saves, and nothing beside it`() async throws {
    let observed = try await Observed(["f"]) { try $0.write(to: "f") }
    for round in 1...5 {
      try observed.folder.write(to: "t")
      try observed.folder.rename("t", to: "f")
      #expect(await eventually { observed.recorder.batches.count == round })
    }
    #expect(Set(observed.recorder.changes.map(\.path)) == [observed.folder["f"]])
  }

  @Test func `sees what a watched link to a file leads to`() async throws {
    let observed = try await Observed(["link"]) {
      try $0.write(to: "real")
      try $0.link("link", to: "real")
    }
    try observed.folder.append("x", to: "real")
    #expect(await observed.recorder.sees(.modified, observed.folder["link"]))
  }

  @Test func `sees that a watched link is pointed elsewhere, and what it leads to from then on`()
    async throws
  {
    let observed = try await Observed(["link"]) {
      try $0.write(to: "old")
      try $0.makeDirectories("other")
      try $0.write(to: "other/new")
      try $0.link("link", to: "old")
    }
    let link = observed.folder["link"]
    try observed.folder.link("next", to: "other/new")
    try observed.folder.rename("next", to: "link")
    #expect(await eventually { observed.recorder.batches.count == 1 })
    try observed.folder.append("x", to: "old")
    try observed.folder.append("x", to: "other/new")
    #expect(await eventually { observed.recorder.batches.count == 2 })
    #expect(observed.recorder.changes.map(\.path) == [link, link])
  }

  @Test func `goes on when a root is removed and made again`() async throws {
    let observed = try await Observed(["root"]) { try $0.makeDirectories("root") }
    let (folder, recorder) = (observed.folder, observed.recorder)
    try folder.remove("root")
    #expect(await recorder.sees(.removed, folder["root"]))
    try folder.makeDirectories("root")
    try folder.write(to: "root/f")
    #expect(await recorder.sees(.created, folder["root/f"]))
  }

  @Test func `tells of what it was asked for only`() async throws {
    let observed = try await Observed(options: ObserverOptions(kinds: [.created, .metadata]))
    let (folder, recorder) = (observed.folder, observed.recorder)
    try folder.write(to: "f")
    #expect(await recorder.sees(.created, folder["f"]))
    try folder.append("x", to: "f")
    try folder.remove("f")
    #expect(try await observed.isUpToDate())
    #expect(observed.kinds(of: "f") == [.created])
  }

  @Test func `metadata alone is no news unless it is asked for`() async throws {
    let observed = try await Observed { try $0.write(to: "f") }
    // Before that, what changed only just is not told from what changed before it was watched.
    #expect(try await observed.isUpToDate())
    try observed.folder.setMode(0o600, of: "f")
    #expect(try await observed.isUpToDate())
    #expect(observed.kinds(of: "f") == [])
  }

  @Test func `ends at once with a loop of links`() async throws {
    let observed = try await Observed {
      try $0.makeDirectories("x")
      try $0.link("x/up", to: "..")
      try $0.link("root", to: "/")
    }
    #expect(observed.recorder.readiness?.watches == 2)
  }

  @Test func `hands changes to every stream, and ends them when it is stopped`() async throws {
    let observed = try await Observed()
    let streams = [observed.observer.batches, observed.observer.batches]
    try observed.folder.write(to: "f")
    #expect(await observed.recorder.sees(observed.folder["f"]))
    observed.observer.stop()
    for stream in streams {
      var paths: [Path] = []
      for try await batch in stream { paths += batch.changes.map(\.path) }
      #expect(Set(paths) == [observed.folder["f"]])
    }
    for try await _ in observed.observer.batches {
      Issue.record("a stopped observer has no batches")
    }
  }

  @Test func `hands over nothing after the stop`() async throws {
    let observed = try await Observed()
    let witness = EventRecorder()
    let other = try FileObserver(paths: [observed.folder.path])
    try other.start(witness.handler)
    #expect(await witness.isReady())
    observed.observer.stop()
    observed.observer.stop()
    try observed.folder.write(to: "late")
    #expect(await witness.sees(observed.folder["late"]))
    #expect(observed.recorder.changes.isEmpty)
    other.stop()
  }

  @Test func `ends when it is released`() async throws {
    let folder = try TemporaryDirectory()
    let recorder = EventRecorder()
    var observer: FileObserver? = try FileObserver(paths: [folder.path])
    weak let held = observer
    try observer?.start(recorder.handler)
    #expect(await recorder.isReady())
    observer = nil
    #expect(await eventually { held == nil })
  }

  @Test func `names a path that is not there`() throws {
    let folder = try TemporaryDirectory()
    let error = #expect(throws: ObserverError.self) {
      try FileObserver(paths: [folder.path, folder["none"]])
    }
    #expect(error?.code == .pathUnavailable)
    #expect(error?.path == folder["none"])
    #expect(error?.advice == "check the name, or watch the folder in which it is to appear")
    let cause = "cannot watch \(folder["none"]): No such file or directory"
    #expect(error?.description == "\(cause); \(error?.advice ?? "")")
  }
}

struct FileObserverStartTests {
  @Test func `loses no change that is made while it begins to watch`() async throws {
    let folder = try TemporaryDirectory()
    for number in 0..<300 {
      try folder.makeDirectories("d\(number)")
      try folder.write(to: "d\(number)/f")
    }
    let recorder = EventRecorder()
    let observer = try FileObserver(paths: [folder.path])
    try observer.start(recorder.handler)
    // Files of every part of the tree, until long after it is watched.
    var written: Set<Path> = []
    for number in 0..<300 {
      try folder.append("x", to: "d\(number)/f")
      try folder.write(to: "d\(299 - number)/new")
      written.formUnion([folder["d\(number)/f"], folder["d\(299 - number)/new"]])
    }
    #expect(
      await eventually { written.isSubset(of: Set(recorder.changes.map(\.path))) })
    observer.stop()
  }

  @Test func `tells of what has changed since a time before its start`() async throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("d/e")
    try folder.write(to: "d/e/old")
    try folder.write(to: "d/e/older")
    #expect(await clockTicks())
    let start = FileTime.now()
    try folder.append("x", to: "d/e/old")
    try folder.write(to: "d/e/new")
    let recorder = EventRecorder()
    let observer = try FileObserver(paths: [folder.path])
    try observer.start(countingFrom: start, recorder.handler)
    #expect(await recorder.sees(.modified, folder["d/e/old"]))
    #expect(await recorder.sees(.created, folder["d/e/new"]))
    #expect(!recorder.changes.contains { $0.path == folder["d/e/older"] })
    observer.stop()
  }

  @Test func `an error says what is wrong, why, and what can be done`() {
    #expect(
      ObserverError.watchLimitReached(watched: 60_000, unwatched: 10_000).description
        == "the limit of inotify watches is reached: of 70000 folders, 60000 are watched and "
        + "10000 are looked at from time to time; "
        + "raise it: sudo sysctl fs.inotify.max_user_watches=262144")
    #expect(
      ObserverError.unreadableDirectory("/a\u{1B}", SystemError(call: "open", code: EACCES))
        .description
        == "cannot read /a\\u{1B}: Permission denied; changes in it are not seen")
  }
}
