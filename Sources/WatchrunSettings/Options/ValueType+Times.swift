import FileObservation

// Durations, as `50ms`, `1.5s`, `2m` or a bare `0`, and what contains one.

extension ValueType<Duration> {
  static var duration: Self { Self(.duration) { $0.duration() } }

  static var positiveDuration: Self {
    Self(.duration) { reader in
      let duration = reader.duration()
      if duration == .zero {
        reader.note("0 is too short; write a longer time, such as 30s")
      }
      return duration
    }
  }
}

extension ValueType<Duration?> {
  /// A duration that may be omitted.
  static var optionalDuration: Self { Self(.duration) { reader in reader.duration().map { $0 } } }
}

extension ValueType<QuietPeriod> {
  static var quietPeriod: Self {
    Self(.quietPeriod) { reader in
      let isAuto = reader.text.elementsEqual("auto".utf8) || reader.json?.content == .string("auto")
      return isAuto ? .adaptive : reader.duration().map { .fixed($0) }
    }
  }
}

extension ValueType<Polling> {
  static var polling: Self {
    Self(.polling) { reader in
      if case .boolean(let isOn)? = reader.json?.content {
        return Polling(isOn ? .always : .whereNeeded)
      }
      guard let interval = reader.duration() else { return nil }
      if interval < .milliseconds(10) {
        reader.note("the interval is too short; write 10ms or more")
      }
      return Polling(.always, interval: interval...interval)
    }
  }
}

extension ValueReader {
  fileprivate mutating func duration() -> Duration? {
    parsed({ Duration(parsing: $0) }) { text in
      let written = text.printable
      let isNumber =
        text.utf8.contains(where: \.isDigitASCII) && Duration(parsing: text + "s") != nil
      return isNumber
        ? "'\(written)' has no unit; write \(written)ms or \(written)s"
        : "'\(written)' is not a duration; write 50ms, 1.5s, 2m or 0"
    }
  }
}

extension Duration {
  private static let units: KeyValuePairs<String, Double> = [
    "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600,
  ]
  /// The longest duration; a century is as good as unlimited.
  private static let longestInSeconds = 3.2e9

  /// Parses a number with a unit, such as `50ms`, `1.5s` or `2m`, or a bare `0`.
  init?(parsing text: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = String(text.dropFirst(digits.count))
    guard let number = Double(digits) else { return nil }
    if unit.isEmpty {
      guard number == 0 else { return nil }
      self = .zero
      return
    }
    guard let scale = Self.units.first(where: { $0.key == unit })?.value else { return nil }
    self = .seconds(Swift.min(number * scale, Self.longestInSeconds))
  }
}
