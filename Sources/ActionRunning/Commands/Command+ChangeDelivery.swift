import FileObservation

extension Command {
  /// How a command receives the list of changes, besides the placeholders among its arguments.
  public enum ChangeDelivery: Sendable, Hashable {
    /// In environment variables, one of which names a file that lists all paths.
    case environment
    /// On standard input: one path per line, or NUL-terminated paths.
    case lines(separatedByNUL: Bool)
    /// On standard input: a JSON object on one line, in the format of `watchrun --print json`.
    case json
    /// Not at all.
    case none

    /// The text for standard input, or `nil` if the list is not delivered there.
    func text(for trigger: RunTrigger, number: Int) -> [UInt8]? {
      switch self {
      case .environment, .none:
        nil
      case .lines(let separatedByNUL):
        Path.lines(trigger.changes.map(\.path), separatedByNUL: separatedByNUL)
      case .json:
        Array((JSONText.object(number, trigger) + "\n").utf8)
      }
    }
  }
}
