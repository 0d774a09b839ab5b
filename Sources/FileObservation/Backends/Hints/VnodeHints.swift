import Dispatch
import SystemCalls

/// Hints from vnodes, as kqueue gives them: each directory and each file has a watch of its own, which
/// reports that it changed and not what in it.
package final class VnodeHints: HintSource {
  private let vnodes: any VnodeSource
  private let pending = Pending()
  private var queue: DispatchQueue?
  private var watches: [Int32: any VnodeWatch] = [:]
  private var lastNumber: Int32 = 0

  package init(_ vnodes: any VnodeSource) {
    self.vnodes = vnodes
  }

  deinit {
    stop()
  }

  package var name: String { "vnode" }
  package var namesEntries: Bool { false }
  /// A rename is reported by the watches of two directories.
  package var patience: Duration { .milliseconds(2) }

  package func start(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void) {
    self.queue = queue
    pending.ring = ring
  }

  package func rearm() throws(SystemError) {
    pending.isArmed = true
    pending.ringIfNeeded()
  }

  package func watch(
    _ path: UnsafePointer<CChar>, _ subject: WatchSubject
  ) throws(SystemError) -> Int32 {
    guard let queue, watches.count < vnodes.capacity else {
      throw SystemError(call: "open", code: EMFILE)
    }
    // The numbers of ended watches are free again, after some two thousand million.
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while watches[lastNumber] != nil
    let (number, pending) = (lastNumber, pending)
    watches[number] = try vnodes.watch(path, followsLinks: subject == .anchor, on: queue) {
      pending.add($0, of: number)
    }
    return number
  }

  package func unwatch(_ watch: Int32) {
    watches.removeValue(forKey: watch)?.cancel()
  }

  package func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime {
    let end = FileTime.now()
    for (watch, events) in pending.take() {
      body(Hint(watch: watch, .init(events), name: UnsafeBufferPointer(start: nil, count: 0)))
    }
    // Hints arrive each on its own.
    return end.advanced(by: .milliseconds(-50))
  }

  package var queueLimit: Int? { nil }

  package func stop() {
    for watch in watches.values { watch.cancel() }
    watches = [:]
    pending.ring = nil
  }

  package func limitReached(watched: Int, unwatched: Int) -> ObserverError {
    .descriptorLimitReached(watched: watched, unwatched: unwatched)
  }

  /// Hints that were not read yet. Used on the source's queue only.
  private final class Pending: @unchecked Sendable {
    var ring: (@Sendable () -> Void)?
    var isArmed = true
    private var events: [Int32: VnodeEvents] = [:]

    func add(_ new: VnodeEvents, of watch: Int32) {
      events[watch, default: []].formUnion(new)
      ringIfNeeded()
    }

    func ringIfNeeded() {
      guard isArmed, !events.isEmpty, let ring else { return }
      isArmed = false
      ring()
    }

    func take() -> [Int32: VnodeEvents] {
      defer { events = [:] }
      return events
    }
  }
}

extension Hint.Reasons {
  fileprivate init(_ events: VnodeEvents) {
    // A vnode may have changed before its watch was registered, too.
    self = .entries
    if events.contains(.gone) { formUnion(.gone) }
  }
}
