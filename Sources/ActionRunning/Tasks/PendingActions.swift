/// The actions of a state machine that have not been performed, in order.
///
/// Performing an action may cause the machine's next step at once, as when a launch fails. The actions of that
/// step follow the others, in the same loop.
struct PendingActions<Action> {
  private var actions: [Action] = []
  private var isBeingPerformed = false

  /// Adds actions. Returns true if the caller must perform them, and all that are added meanwhile; false if
  /// a caller further up the stack does.
  mutating func add(_ others: [Action]) -> Bool {
    actions += others
    defer { isBeingPerformed = true }
    return !isBeingPerformed
  }

  /// Removes and returns the next action; `nil` ends the loop.
  mutating func next() -> Action? {
    isBeingPerformed = !actions.isEmpty
    return isBeingPerformed ? actions.removeFirst() : nil
  }
}
