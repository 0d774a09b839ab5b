/// What a machine has said and is not done yet, in order.
///
/// What is done may lead to the machine's next step at once, such as a launch that fails: what that step
/// says has its turn behind the rest, and whoever performs goes on until nothing is left.
struct PendingActions<Action> {
  private var actions: [Action] = []
  private var isBeingPerformed = false

  /// Adds what is to be done. True if the caller is to do it, with all that comes by then; false if
  /// somebody is at it.
  mutating func add(_ others: [Action]) -> Bool {
    actions += others
    defer { isBeingPerformed = true }
    return !isBeingPerformed
  }

  /// What is to be done next; nil when nothing is left, and nobody is at it any more.
  mutating func next() -> Action? {
    isBeingPerformed = !actions.isEmpty
    return isBeingPerformed ? actions.removeFirst() : nil
  }
}
