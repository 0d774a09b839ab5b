import Dispatch
import SystemCalls

/// Hints from vnodes, as kqueue reports them. Each directory and each file has a watch of its own;
/// that of a directory does not name the entries that change.
final class VnodeHints: HintSource {
  private let vnodes: any VnodeSource
  private let pending = Pending()
  private var queue: DispatchQueue?
  private var watches: [Int32: any VnodeWatch] = [:]
  private var lastNumber: Int32 = 0

  init(_ vnodes: any VnodeSource) {
    self.vnodes = vnodes
  }

  deinit {
    stop()
  }

  var name: String { "vnode" }
  var namesEntries: Bool { false }
  /// A rename is reported by the watches of both directories, one after the other.
  var settlingTime: Duration { .milliseconds(2) }

  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void) {
    self.queue = queue
    pending.hintsAvailable = hintsAvailable
  }

  func rearm() throws(SystemError) {
    pending.isArmed = true
    pending.notifyIfNeeded()
  }

  func watch(
    _ path: UnsafePointer<CChar>, _ subject: WatchSubject
  ) throws(SystemError) -> Int32 {
    guard let queue, watches.count < vnodes.capacity else {
      throw SystemError(call: "open", code: EMFILE)
    }
    // After an overflow, numbers are used again unless they are in use.
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while watches[lastNumber] != nil
    let (number, pending) = (lastNumber, pending)
    watches[number] = try vnodes.watch(path, followsLinks: subject == .anchor, on: queue) {
      pending.add($0, of: number)
    }
    return number
  }

  func unwatch(_ watch: Int32) {
    watches.removeValue(forKey: watch)?.cancel()
  }

  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime {
    let end = FileTime.now()
    for (watch, events) in pending.take() {
      body(Hint(watch: watch, reasons: .init(events), name: UnsafeBufferPointer(start: nil, count: 0)))
    }
    // Hints arrive one by one, and some time after the change.
    return end.advanced(by: .milliseconds(-50))
  }

  var queueLimit: Int? { nil }

  func stop() {
    for watch in watches.values { watch.cancel() }
    watches = [:]
    pending.hintsAvailable = nil
  }

  /// Events that were not read yet. Used on the source's queue only.
  private final class Pending: @unchecked Sendable {
    var hintsAvailable: (@Sendable () -> Void)?
    var isArmed = true
    private var events: [Int32: VnodeEvents] = [:]

    func add(_ new: VnodeEvents, of watch: Int32) {
      events[watch, default: []].formUnion(new)
      notifyIfNeeded()
    }

    func notifyIfNeeded() {
      guard isArmed, !events.isEmpty, let hintsAvailable else { return }
      isArmed = false
      hintsAvailable()
    }

    func take() -> [Int32: VnodeEvents] {
      defer { events = [:] }
      return events
    }
  }
}

extension Hint.Reasons {
  fileprivate init(_ events: VnodeEvents) {
    // Entries may also have changed before the watch was registered.
    self = .entries
    if events.contains(.gone) { formUnion(.gone) }
  }
}
