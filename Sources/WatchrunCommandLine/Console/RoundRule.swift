import SystemCalls

/// The line between two rounds at a terminal, with the time of day.
struct RoundRule {
  let hour: Int
  let minute: Int
  let second: Int

  /// The local time.
  static var now: RoundRule {
    var (time, parts) = (time(nil), tm())
    localtime_r(&time, &parts)
    return RoundRule(
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
  }

  /// The widest one. A narrower terminal has a shorter line, which does not wrap.
  static let width = 60

  /// The time of day.
  var clock: String {
    [hour, minute, second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  func text(columns: Int) -> String {
    let start = "── \(clock) "
    return start + String(repeating: "─", count: max(0, min(columns, Self.width) - start.count))
  }
}

/// The time before a line of output, in local time.
enum LineTime {
  /// The day as well, as in `2026-01-31 14:03:07`.
  static var date: String {
    var (time, parts) = (time(nil), tm())
    localtime_r(&time, &parts)
    let numbers = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday]
    let day = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
    return "\(day) \(RoundRule.now.clock)"
  }

  static var prefix: [UInt8] {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let milliseconds = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
    return Array("\(RoundRule.now.clock).\(milliseconds) ".utf8)
  }
}
