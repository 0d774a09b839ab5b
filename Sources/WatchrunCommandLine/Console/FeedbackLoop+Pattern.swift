import ActionRunning
import SystemCalls

extension FeedbackLoop {
  /// A pattern for the entries that are created or removed: the common prefix and suffix of two of their
  /// names.
  var pattern: String {
    let names = entries.map { String(decoding: $0.lastComponent, as: UTF8.self) }
    guard let first = names.first, let last = names.last else { return "" }
    if first == last { return first }
    let prefix = first.commonPrefix(with: last)
    let ends = (String(first.reversed()), String(last.reversed()))
    let suffix = String(ends.0.commonPrefix(with: ends.1).reversed())
    let isShort = prefix.count + suffix.count >= min(first.count, last.count)
    return prefix + "*" + (isShort ? "" : suffix)
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
