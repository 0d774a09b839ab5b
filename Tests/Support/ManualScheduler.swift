import FileObservation
import Support
import Synchronization

/// A scheduler whose time stands still until a test advances it. Work is done on the caller's
/// thread.
package final class ManualScheduler: Scheduler {
  private struct Item {
    let time: Instant
    let work: @Sendable () -> Void
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// The work, by the order in which it was scheduled.
    var items: [Int: Item] = [:]
    var count = 0
  }

  private let state = Mutex(State())
  private let honoursCancelling: Bool

  /// - Parameter honoursCancelling: Whether cancelled work is dropped. With `false`, it is done,
  ///   like work that had begun before it was cancelled.
  package init(honoursCancelling: Bool = true) {
    self.honoursCancelling = honoursCancelling
  }

  package var now: Instant { state.withLock { $0.now } }

  /// The number of pieces of pending work.
  package var pendingCount: Int { state.withLock { $0.items.count } }

  /// The time of the next work.
  package var nextTime: Instant? { state.withLock { $0.items.values.map(\.time).min() } }

  package func schedule(
    at time: Instant, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let number = state.withLock { state in
      state.count += 1
      state.items[state.count] = Item(time: time, work: work)
      return state.count
    }
    return Ticket { [self] in
      if honoursCancelling { state.withLock { _ = $0.items.removeValue(forKey: number) } }
    }
  }

  /// Advances time, and does the work due in between, in order of time and each at its own time.
  /// This includes work that other work schedules.
  package func advance(by duration: Duration) {
    let end = now.advanced(by: duration)
    while let work = nextDue(until: end) { work() }
    state.withLock { $0.now = end }
  }

  private func nextDue(until end: Instant) -> (@Sendable () -> Void)? {
    state.withLock { state in
      let due = state.items.filter { $0.value.time <= end }
      let next = due.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
      guard let next else { return nil }
      state.items[next.key] = nil
      state.now = max(state.now, next.value.time)
      return next.value.work
    }
  }

  private struct Ticket: ScheduledWork {
    let onCancel: @Sendable () -> Void

    func cancel() {
      onCancel()
    }
  }
}

extension Instant {
  /// The time so many milliseconds after the start of a manual clock.
  package static func milliseconds(_ number: Int) -> Instant {
    Instant(offset: .milliseconds(number))
  }
}
