import Dispatch

/// Work that is due at some time, in order of time. Work can be removed.
struct Deadlines: Sendable {
  /// Unchecked: Dispatch documents that work items may be cancelled on any thread, but their type is not
  /// Sendable. Each is performed once, by the queue on which it is due.
  struct Entry: @unchecked Sendable {
    let time: Instant
    let item: DispatchWorkItem

    init(time: Instant, work: @escaping @Sendable () -> Void) {
      self.time = time
      item = DispatchWorkItem(block: work)
    }
  }

  private var entries: [(id: Int, entry: Entry)] = []
  private var count = 0

  /// The time at which the first work is due; `nil` if there is none.
  var next: Instant? { entries.first?.entry.time }

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

  /// Removes and returns the first work that is due.
  mutating func takeDue(at now: Instant) -> Entry? {
    guard let first = entries.first, first.entry.time <= now else { return nil }
    return entries.removeFirst().entry
  }
}
