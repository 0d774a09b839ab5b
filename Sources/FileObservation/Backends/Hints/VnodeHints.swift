import Dispatch
import Support
import SystemCalls

/// Hints from vnodes, as kqueue reports them. Each directory and each file has a watch of its own;
/// that of a directory does not name the entries that change.
final class VnodeHints: HintSource {
  /// Watches the vnode at a path, a C string, under whatever path it is moved to. Calls the handler on the queue when
  /// the watch is in force, since earlier changes are not reported, and then at each event, with whether the vnode was
  /// removed, renamed or made inaccessible. Returns what ends the watch; the handler may be called once more then.
  ///
  /// Throws `EMFILE` if the limit of descriptors is reached.
  typealias Watch =
    @Sendable (
      _ path: UnsafePointer<CChar>, _ followsLinks: Bool, _ queue: DispatchQueue,
      _ handler: @escaping @Sendable (_ isGone: Bool) -> Void
    ) throws(SystemError) -> (@Sendable () -> Void)

  private let capacity: Int
  private let watchVnode: Watch
  private let pending = Pending()
  private var queue: DispatchQueue?
  /// What ends the watches.
  private var watches: [Int32: @Sendable () -> Void] = [:]
  private var lastNumber: Int32 = 0

  /// - Parameter capacity: The largest number of watches.
  init(capacity: Int, watchVnode: @escaping Watch) {
    (self.capacity, self.watchVnode) = (capacity, watchVnode)
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
    guard let queue, watches.count < capacity else {
      throw SystemError(call: "open", code: EMFILE)
    }
    // After an overflow, numbers are used again unless they are in use.
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while watches[lastNumber] != nil
    let (number, pending) = (lastNumber, pending)
    watches[number] = try watchVnode(path, subject == .anchor, queue) {
      pending.add(number, isGone: $0)
    }
    return number
  }

  func unwatch(_ watch: Int32) {
    watches.removeValue(forKey: watch)?()
  }

  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime {
    let end = FileTime.now()
    for (watch, isGone) in exchange(&pending.events, with: [:]) {
      // Entries may also have changed before the watch was registered.
      let reasons: Hint.Reasons = isGone ? [.entries, .gone] : .entries
      body(Hint(watch: watch, reasons: reasons, name: UnsafeBufferPointer(start: nil, count: 0)))
    }
    // Hints arrive one by one, and some time after the change.
    return end.advanced(by: .milliseconds(-50))
  }

  var queueLimit: Int? { nil }

  func stop() {
    for end in watches.values { end() }
    watches = [:]
    pending.hintsAvailable = nil
  }

  /// Events that were not read yet. Used on the source's queue only.
  private final class Pending: @unchecked Sendable {
    var hintsAvailable: (@Sendable () -> Void)?
    var isArmed = true
    /// The watches with events, and whether what they watch is gone.
    var events: [Int32: Bool] = [:]

    func add(_ watch: Int32, isGone: Bool) {
      events[watch] = isGone || events[watch] == true
      notifyIfNeeded()
    }

    func notifyIfNeeded() {
      guard isArmed, !events.isEmpty, let hintsAvailable else { return }
      isArmed = false
      hintsAvailable()
    }
  }
}
