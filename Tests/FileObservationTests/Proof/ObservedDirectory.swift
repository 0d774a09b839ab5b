import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A new directory, its observer, and the reports.
///
/// All earlier changes are known to be reported when two marks that are made afterwards, in a
/// directory of their own, have been reported: a poll may have passed the other directories, but
/// not that of the marks, when the first mark is made; this is not possible for the second.
final class ObservedDirectory: Sendable {
  /// A root, relative to the directory; an empty path is the directory itself.
  struct Root: Sendable {
    var path: [UInt8]
    var isRecursive = true
  }

  private struct State {
    var batches: [ChangeBatch] = []
    var warnings: [ObserverWarning] = []
    var readiness: FileObserver.Readiness?
    var marksSeen: Set<Path> = []
    var markCount = 0
  }

  /// Files for marks where creations are not reported.
  private static let spareMarks = 40

  private let base: TemporaryDirectory
  let path: Path
  let observer: FileObserver
  private let marks: Path
  private let kinds: Set<ChangeBatch.Kind>
  private let state = Mutex(State())

  /// Prepares the directory and observes it. Adds the options of the backend to the given ones.
  ///
  /// - Parameter isBase: Whether the directory is the base, as the current directory is.
  init(
    by backend: BackendUnderTest, _ roots: [Root] = [Root(path: [])], isBase: Bool = false,
    options: (Path) -> ObserverOptions = { _ in ObserverOptions() },
    prepare: (Path) async throws -> Void = { _ in }
  ) async throws {
    base = try TemporaryDirectory()
    path = base["watched"]
    marks = base["marks"]
    try base.makeDirectories("watched")
    try base.makeDirectories("marks")
    try await prepare(path)
    var options = options(path)
    backend.configure(&options)
    kinds = options.kinds
    if !kinds.contains(.created) {
      for number in 0..<Self.spareMarks { try base.write(to: "marks/spare-\(number).mark") }
    }
    // Later changes must have later timestamps than the preparation.
    let before = FileTime.latest()
    guard await eventually({ FileTime.now() > before }) else { throw Missing("a later time") }

    let directory = path
    let watched = roots.map { root in
      WatchedPath(place(root.path, in: directory), isRecursive: root.isRecursive)
    }
    observer = try FileObserver(watching: watched + [WatchedPath(marks)], options: options)
    let makeBackend = { @Sendable (configuration: BackendConfiguration, polling: Polling) in
      var configuration = configuration
      if isBase { configuration.base = directory }
      return backend.makeBackend(configuration, polling)
    }
    try observer.start(countingFrom: .now(), makeBackend: makeBackend) { [weak self] event in
      self?.note(event)
    } onFailure: { error in
      Issue.record("observing failed: \(error)")
    }
    guard await eventually({ self.readiness != nil }) else { throw Missing("readiness") }
    _ = try await settle()
  }

  deinit {
    observer.stop()
  }

  var readiness: FileObserver.Readiness? { state.withLock { $0.readiness } }

  var warnings: [ObserverWarning] { state.withLock { $0.warnings } }

  /// An event that did not happen in time.
  struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ thing: String) {
      description = "waited in vain for \(thing)"
    }
  }
}

// MARK: - Reports

extension ObservedDirectory {
  /// Waits until all changes so far are reported. Returns the batches since the last call, and
  /// discards them unless they must be kept for the next one.
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

  /// Waits for the batch after an overflow.
  func recovers() async -> Bool {
    await eventually {
      state.withLock { $0.batches.contains { $0.overflow } }
    }
  }

  /// Waits until a change of an entry is reported.
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
      case .warning(let warning):
        state.warnings.append(warning)
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

  /// Makes a change of a kind that is reported. Returns its path.
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
