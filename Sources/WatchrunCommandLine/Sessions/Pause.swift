import SessionControl
import Support

/// Whether changes start runs: the user pauses them, and a client holds them for a time. A pure state machine.
struct Pause {
  /// A lease of a client.
  struct Hold: Hashable {
    let owner: Int
    let until: Instant
  }

  /// What the caller does with the runner.
  enum Transition: Hashable {
    case pause
    case resume
  }

  static let holdTime = Duration.seconds(30)

  private(set) var isPaused = false
  private(set) var hold: Hold?

  /// Whether changes start nothing.
  var stops: Bool { isPaused || hold != nil }

  /// The user, or a client, pauses or resumes.
  mutating func set(_ isPaused: Bool) -> Transition? {
    change { $0.isPaused = isPaused }
  }

  /// A client holds the changes, or prolongs its hold. The hold of another client is replaced if it ends
  /// earlier.
  mutating func hold(for time: Duration?, by owner: Int, at now: Instant) -> Transition? {
    let until = now.advanced(by: min(time ?? Self.holdTime, SessionRequest.longestHold))
    return change { pause in
      if let hold = pause.hold, hold.owner != owner, hold.until >= until { return }
      pause.hold = Hold(owner: owner, until: until)
    }
  }

  /// Ends a hold: that of this owner, or of any.
  mutating func release(of owner: Int? = nil) -> Transition? {
    change { if owner == nil || $0.hold?.owner == owner { $0.hold = nil } }
  }

  /// Ends a hold whose time is over.
  mutating func elapsed(at now: Instant) -> Transition? {
    change { if let hold = $0.hold, hold.until <= now { $0.hold = nil } }
  }

  private mutating func change(_ body: (inout Pause) -> Void) -> Transition? {
    let before = stops
    body(&self)
    return before == stops ? nil : stops ? .pause : .resume
  }
}
