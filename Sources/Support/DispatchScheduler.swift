import Dispatch

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
    // Dispatch traps on a negative leeway.
    let nanoseconds = max(0, Int(clamping: leeway.nanoseconds))
    timer.schedule(deadline: deadline, leeway: .nanoseconds(nanoseconds))
    timer.activate()
    return ticket
  }

  // Unchecked: Dispatch documents that work items and sources may be cancelled on any thread, but
  // their types are not Sendable.
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
