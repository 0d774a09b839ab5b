import Dispatch
import Support
import Synchronization

/// Pauses and resumes a session, for the key `p` and for clients.
final class PauseControl: Sendable {
  private struct State {
    var pause = Pause()
    var listener: KeyTarget?
    var timer: (any ScheduledWork)?
  }

  private let state = Mutex(State())
  private let scheduler: any Scheduler
  /// Called when the session is held, or released again.
  private let heldChanged: @Sendable (Pause.Hold?) -> Void

  init(
    scheduler: any Scheduler = DispatchScheduler(queue: .separate()),
    heldChanged: @escaping @Sendable (Pause.Hold?) -> Void
  ) {
    (self.scheduler, self.heldChanged) = (scheduler, heldChanged)
  }

  /// Sets what is paused and resumed.
  func connect(_ listener: KeyTarget) {
    state.withLock { $0.listener = listener }
  }

  /// Whether the user has paused the session, and whether a client holds it.
  var condition: (isPaused: Bool, isHeld: Bool) {
    state.withLock { ($0.pause.isPaused, $0.pause.hold != nil) }
  }

  func set(_ isPaused: Bool) {
    change { pause, _ in pause.set(isPaused) }
  }

  /// Returns whether the session is paused now.
  func toggle() -> Bool {
    let isPaused = !condition.isPaused
    set(isPaused)
    return isPaused
  }

  func hold(for time: Duration?, by owner: Int) {
    change { pause, now in pause.hold(for: time, by: owner, at: now) }
  }

  /// Ends a hold: that of this owner, or of any.
  func release(of owner: Int? = nil) {
    change { pause, _ in pause.release(of: owner) }
  }

  /// Resumes when all changes so far are read, so that they start one run, unless it is paused again by then.
  private func resumeSoon(_ listener: KeyTarget) {
    listener.session.flush { [self] in
      state.withLock { if !$0.pause.stops { listener.resume() } }
    }
  }

  private func change(_ body: (inout Pause, Instant) -> Pause.Transition?) {
    let now = scheduler.now
    let (before, after, resumed) = state.withLock { state in
      let before = state.pause.hold
      // The runner takes orders asynchronously, and in this order.
      let transition = body(&state.pause, now)
      if transition == .pause { state.listener?.pause() }
      let after = state.pause.hold
      if after != before {
        state.timer?.cancel()
        state.timer = after.map(end)
      }
      return (before, after, transition == .resume ? state.listener : nil)
    }
    if let resumed { resumeSoon(resumed) }
    if (before == nil) != (after == nil) { heldChanged(after) }
  }

  private func end(_ hold: Pause.Hold) -> any ScheduledWork {
    scheduler.schedule(at: hold.until, leeway: .zero) { [weak self] in
      self?.change { pause, now in pause.elapsed(at: now) }
    }
  }
}
