import Dispatch

/// Work that is due at some time, in order of time. Work can be removed.
struct Deadlines: Sendable {
  /// Unchecked: Dispatch documents that work items may be cancelled on any thread, but their type is not
  /// Sendable. Each is performed once, by the queue on which it is due.
  struct Entry: @unchecked Sendable {
    fileprivate(set) var time: Instant
    /// How much later it may be done.
    let leeway: Duration
    let item: DispatchWorkItem

    init(time: Instant, leeway: Duration, work: @escaping @Sendable () -> Void) {
      (self.time, self.leeway) = (time, leeway)
      item = DispatchWorkItem(block: work)
    }
  }

  private var entries: [(id: Int, entry: Entry)] = []
  private var count = 0

  var isEmpty: Bool { entries.isEmpty }

  /// The latest time at which nothing is late; `nil` if there is no work.
  var next: Instant? {
    var next: Instant?
    for (_, entry) in entries {
      // Those that follow are due later.
      if let next, entry.time >= next { break }
      let last = entry.time.advanced(by: entry.leeway)
      next = next.map { min($0, last) } ?? last
    }
    return next
  }

  /// Adds work after all that is due at the same time. Returns its ID.
  mutating func add(_ entry: Entry) -> Int {
    count += 1
    let place = entries.lastIndex { $0.entry.time <= entry.time }.map { $0 + 1 } ?? 0
    entries.insert((count, entry), at: place)
    return count
  }

  /// Removes work. Returns nil if it was removed before.
  mutating func remove(_ id: Int) -> Entry? {
    entries.firstIndex { $0.id == id }.map { entries.remove(at: $0).entry }
  }

  /// Makes all work due later.
  mutating func delay(by time: Duration) {
    for index in entries.indices {
      entries[index].entry.time = entries[index].entry.time.advanced(by: time)
    }
  }

  /// Removes and returns the first work that is due.
  mutating func takeDue(at now: Instant) -> Entry? {
    guard let first = entries.first, first.entry.time <= now else { return nil }
    return entries.removeFirst().entry
  }
}
