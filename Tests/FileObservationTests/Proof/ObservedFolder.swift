import FileObservation
import Synchronization
import SystemCalls
import TestSupport

/// A fresh folder, an observer of it, and what that has reported.
///
/// All is known to be reported when a mark that is made afterwards, in a folder of its own, has been
/// reported twice: a backend may be about to look at the mark's folder when the first is made, having
/// looked at the others already, but not when the second is.
final class ObservedFolder: Sendable {
  /// What is watched, relative to the folder; of an empty path, the folder itself.
  struct Root: Sendable {
    var path: [UInt8]
    var isRecursive = true
  }

  private struct State {
    var batches: [ChangeBatch] = []
    var warnings: [ObserverError] = []
    var readiness: FileObserver.Readiness?
    var marksSeen: Set<Path> = []
    var markCount = 0
  }

  private static let spareMarks = 40

  private let base: TemporaryDirectory
  /// The folder.
  let path: Path
  let observer: FileObserver
  private let marks: Path
  private let kinds: Set<ChangeBatch.Kind>
  private let state = Mutex(State())

  /// Prepares the folder, and watches it. The options are completed by what the backend needs.
  init(
    by backend: BackendUnderTest, _ roots: [Root] = [Root(path: [])],
    options: (Path) -> ObserverOptions = { _ in ObserverOptions() },
    prepare: (Path) async throws -> Void = { _ in }
  ) async throws {
    base = try TemporaryDirectory()
    path = base["watched"]
    marks = base["marks"]
    try base.makeDirectories("watched")
    try base.makeDirectories("marks")
    for number in 0..<Self.spareMarks { try base.write(to: "marks/spare-\(number).mark") }
    try await prepare(path)
    // What is changed from now on bears a later time than what was made before.
    let before = FileTime.latest()
    guard await eventually({ FileTime.now() > before }) else { throw Missing("a later time") }

    var options = options(path)
    backend.configure(&options)
    kinds = options.kinds
    let folder = path
    let watched = roots.map { root in
      WatchedPath(place(root.path, in: folder), isRecursive: root.isRecursive)
    }
    observer = try FileObserver(watching: watched + [WatchedPath(marks)], options: options)
    try observer.start(countingFrom: .now(), makeBackend: backend.makeBackend) {
      [weak self] event in self?.note(event)
    }
    guard await eventually({ self.readiness != nil }) else { throw Missing("readiness") }
    _ = try await settle()
  }

  deinit {
    observer.stop()
  }

  var readiness: FileObserver.Readiness? { state.withLock { $0.readiness } }

  var warnings: [ObserverError] { state.withLock { $0.warnings } }

  /// What did not come.
  struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ thing: String) {
      description = "waited in vain for \(thing)"
    }
  }
}

// MARK: - What is reported

extension ObservedFolder {
  /// Waits until all that has happened so far is reported. The batches since the last call, which are
  /// forgotten unless they are to be kept for the next one.
  func settle(keepsBatches: Bool = false) async throws -> [ChangeBatch] {
    for _ in 0..<2 {
      let mark = try makeMark()
      guard await eventually(within: .seconds(60), { hasSeen(mark) }) else {
        throw Missing("\(mark) to be reported")
      }
    }
    return state.withLock { state in
      defer { if !keepsBatches { state.batches = [] } }
      return state.batches
    }
  }

  /// Waits until the loss of events has been made good.
  func recovers() async -> Bool {
    await eventually {
      state.withLock { $0.batches.contains { $0.overflow } }
    }
  }

  /// Waits until a change of this path is reported.
  func sees(_ name: String) async -> Bool {
    let wanted = path.appending(name)
    return await eventually {
      state.withLock { state in
        state.batches.contains { $0.changes.contains { $0.path == wanted } }
      }
    }
  }

  private func note(_ event: FileObserver.Event) {
    state.withLock { state in
      switch event {
      case .ready(let readiness):
        state.readiness = readiness
      case .warning(let error), .failed(let error):
        state.warnings.append(error)
      case .changed(var batch):
        let own = batch.changes.filter { $0.path.isWithin(marks) }
        state.marksSeen.formUnion(own.map(\.path))
        if !own.isEmpty { batch.changes.removeAll { $0.path.isWithin(marks) } }
        if !batch.changes.isEmpty || batch.overflow { state.batches.append(batch) }
      }
    }
  }

  private func hasSeen(_ mark: Path) -> Bool {
    state.withLock { $0.marksSeen.contains(mark) }
  }

  /// Lets something happen of a kind that is reported. Where that is.
  private func makeMark() throws -> Path {
    let number = state.withLock { state in
      state.markCount += 1
      return state.markCount
    }
    if kinds.contains(.created) {
      try base.write(to: "marks/\(number).mark")
      return marks.appending("\(number).mark")
    }
    let spare = "spare-\(number % Self.spareMarks).mark"
    if kinds.contains(.modified) {
      try base.append("x", to: "marks/" + spare)
    } else if kinds.contains(.removed) {
      try base.remove("marks/" + spare)
    } else if kinds.contains(.metadata) {
      try base.setMode(0o600, of: "marks/" + spare)
    } else {
      try base.rename("marks/" + spare, to: "marks/\(number).mark")
      return marks.appending("\(number).mark")
    }
    return marks.appending(spare)
  }
}
