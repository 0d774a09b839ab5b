import Dispatch

/// A moment on a clock that only runs forward: the system's while it runs, a manual one in tests.
package struct Instant: InstantProtocol, Hashable, Sendable {
  /// Since the clock's beginning.
  package let offset: Duration

  package init(offset: Duration) {
    self.offset = offset
  }

  package static func < (left: Instant, right: Instant) -> Bool {
    left.offset < right.offset
  }

  package func advanced(by duration: Duration) -> Instant {
    Instant(offset: offset + duration)
  }

  package func duration(to other: Instant) -> Duration {
    other.offset - offset
  }
}

/// A clock, and things to do when it has reached a time.
package protocol Scheduler: Sendable {
  var now: Instant { get }

  /// Does `work` at that time, or at most `leeway` later where that saves a wake-up, on the
  /// scheduler's queue. To cancel it does not stop it once it has begun: work must find out by
  /// itself whether it is still wanted.
  func schedule(
    at time: Instant, leeway: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork
}

extension Scheduler {
  /// Does `work` at that time, as exactly as the system can.
  package func schedule(
    at time: Instant, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    schedule(at: time, leeway: .zero, work)
  }
}

/// Something that will be done unless it is cancelled before.
package protocol ScheduledWork: Sendable {
  func cancel()
}

/// The system's monotonic clock, and a Dispatch queue.
package struct DispatchScheduler: Scheduler {
  private let queue: DispatchQueue

  package init(queue: DispatchQueue) {
    self.queue = queue
  }

  package var now: Instant {
    Instant(offset: .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)))
  }

  package func schedule(
    at time: Instant, leeway: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let deadline = DispatchTime(uptimeNanoseconds: UInt64(clamping: time.offset.nanoseconds))
    if leeway == .zero {
      let item = DispatchWorkItem(block: work)
      queue.asyncAfter(deadline: deadline, execute: item)
      return ScheduledItem { item.cancel() }
    }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let ticket = ScheduledItem { timer.cancel() }
    // The handler holds the ticket, and so the timer, until it is cancelled.
    timer.setEventHandler { @Sendable in
      ticket.cancel()
      work()
    }
    // Dispatch traps for a negative one.
    let nanoseconds = max(0, Int(clamping: leeway.nanoseconds))
    timer.schedule(deadline: deadline, leeway: .nanoseconds(nanoseconds))
    timer.activate()
    return ticket
  }

  // Dispatch documents work items and sources as safe to cancel from any thread; the types do not
  // say so.
  private struct ScheduledItem: ScheduledWork, @unchecked Sendable {
    private let onCancel: () -> Void

    init(onCancel: @escaping () -> Void) {
      self.onCancel = onCancel
    }

    func cancel() {
      onCancel()
    }
  }
}

extension Duration {
  /// In whole nanoseconds, held at the largest there is.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if isTooLong { return seconds < 0 ? .min : .max }
    let (sum, isOver) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isOver ? .max : sum
  }
}
