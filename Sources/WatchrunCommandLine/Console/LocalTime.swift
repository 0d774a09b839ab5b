import SystemCalls

/// A time as messages and output show it, in local time.
struct LocalTime {
  let parts: tm
  var milliseconds = 0

  static var now: LocalTime {
    var (time, parts) = (timespec(), tm())
    clock_gettime(CLOCK_REALTIME, &time)
    localtime_r(&time.tv_sec, &parts)
    return LocalTime(parts: parts, milliseconds: time.tv_nsec / 1_000_000)
  }

  /// The widest rule. A narrower terminal has a shorter one, which does not wrap.
  static let width = 60

  var clock: String { Self.text([parts.tm_hour, parts.tm_min, parts.tm_sec], ":") }

  /// The day as well, as in `2026-01-31 14:03:07`.
  var date: String {
    "\(Self.text([parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday], "-")) \(clock)"
  }

  /// What stands before a line of output.
  var prefix: [UInt8] { Array("\(clock).\(String(1000 + milliseconds).dropFirst()) ".utf8) }

  /// The line between two rounds at a terminal.
  func rule(columns: Int) -> String {
    let start = "── \(clock) "
    return start + String(repeating: "─", count: max(0, min(columns, Self.width) - start.count))
  }

  private static func text(_ numbers: [Int32], _ separator: String) -> String {
    numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: separator)
  }
}
