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
