/// The actions of a state machine that have not been performed. Performing one may cause the next step at once, whose
/// actions follow the others, in the same loop.
struct PendingActions<Action> {
  private var actions: [Action] = []
  private var isBeingPerformed = false

  /// Adds actions. Returns whether the caller must perform all of them; otherwise one further up the stack does.
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
