import FileObservation

/// How a command learns what has changed, beside the placeholders among its words.
public enum Emission: Sendable, Hashable {
  /// In its environment, and in a file that is named there.
  case environment
  /// The paths on its standard input, one a line, or with a NUL behind each.
  case lines(separatedByNUL: Bool)
  /// On its standard input, a JSON object in one line, such as `watchrun --print json` prints.
  case json
  /// Not at all.
  case none

  /// What is to be read on standard input; nil if that is used for nothing.
  func text(for trigger: Trigger, number: Int) -> [UInt8]? {
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
