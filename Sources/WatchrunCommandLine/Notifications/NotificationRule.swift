/// Decides after which runs the user is notified.
struct NotificationRule {
  private var hasSucceeded: Bool?

  /// Returns whether a notification is due for a run that has ended.
  mutating func isDue(afterSuccess isSuccess: Bool, _ mode: NotifyMode) -> Bool {
    defer { hasSucceeded = isSuccess }
    // A first success is no change.
    let wasSuccess = hasSucceeded ?? true
    switch mode {
    case .never: return false
    case .failure: return !isSuccess || !wasSuccess
    case .change: return isSuccess != wasSuccess
    case .always: return true
    }
  }
}
