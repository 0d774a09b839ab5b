/// The style of terminal text.
struct Style: Hashable, Sendable {
  /// A colour of a terminal as a class names it: one of the 16 of the terminal's theme by its number, or `#ff0000`.
  typealias Color = String

  /// The codes that set and unset an effect, and its class; foreground and background are swapped without one.
  private static let effects: [(on: Int, off: Int, name: String)] = [
    (1, 22, "b"), (2, 22, "d"), (3, 23, "i"), (4, 24, "u"), (9, 29, "s"), (7, 27, ""),
  ]

  /// The effects, as a set of places in the table.
  var effects: UInt8 = 0
  /// The colours; `nil` for the terminal's default.
  var foreground: Color?
  var background: Color?

  /// The classes for the page, such as `b f1`; empty for plain text.
  var classes: String {
    let set = Self.effects.indices.filter { effects & 1 << $0 != 0 }.map { Self.effects[$0].name }
    let isInverse = set.contains("")
    var names = set.filter { !$0.isEmpty }
    // The default colours are assumed to be light on dark.
    let front = isInverse ? background ?? "0" : foreground
    let back = isInverse ? foreground ?? "7" : background
    if let front { names.append("f" + front) }
    if let back { names.append("g" + back) }
    return names.joined(separator: " ")
  }

  /// The colour of an index in the table of 256: the palette, a cube of 6 × 6 × 6, 24 greys.
  private static func color(_ index: Int) -> Color? {
    switch index {
    case 0..<16: return String(index)
    case 16..<232:
      let levels = [0, 95, 135, 175, 215, 255]
      return color([36, 6, 1].map { levels[(index - 16) / $0 % 6] })
    case 232..<256: return color(Array(repeating: 8 + 10 * (index - 232), count: 3))
    default: return nil
    }
  }

  private static func color(_ parts: [Int]) -> Color {
    "#" + parts.map { String($0, digits: 2) }.joined()
  }
}

// MARK: - Escape sequences

extension Style {
  /// Applies the parameters of an SGR sequence (`ESC [ … m`), such as `1;31` or `38:2::255:0:0`.
  /// Unknown ones are ignored.
  mutating func apply(parameters: some Collection<UInt8>) {
    let list = parameters.split(
      separator: UInt8(ascii: ";"), maxSplits: 64, omittingEmptySubsequences: false
    ).map { part in
      part.split(separator: UInt8(ascii: ":"), maxSplits: 8, omittingEmptySubsequences: false)
        .map { $0.decimal(limit: 9_999) ?? 0 }
    }
    var rest = list[...]
    while let parameter = rest.popFirst() {
      let code = parameter.first ?? 0
      switch code {
      case 38, 48, 58:
        let color = Self.color(parameter, &rest)
        if code == 38, let color { foreground = color }
        if code == 48, let color { background = color }
      default:
        apply(code, option: parameter.dropFirst().first)
      }
    }
  }

  private mutating func apply(_ code: Int, option: Int?) {
    switch code {
    case 0: self = Style()
    case 4 where option == 0: apply(24, option: nil)
    case 21: apply(4, option: nil)
    case 30...37: foreground = String(code - 30)
    case 39: foreground = nil
    case 40...47: background = String(code - 40)
    case 49: background = nil
    case 90...97: foreground = String(code - 90 + 8)
    case 100...107: background = String(code - 100 + 8)
    default:
      for (place, effect) in Self.effects.enumerated() {
        if effect.on == code { effects |= 1 << place }
        if effect.off == code { effects &= ~(1 << place) }
      }
    }
  }

  /// The colour after 38 or 48: parts of the same parameter after colons, or the next parameters.
  private static func color(_ parameter: [Int], _ rest: inout ArraySlice<[Int]>) -> Color? {
    var values = parameter.dropFirst()
    if values.isEmpty {
      let kind = rest.first?.first
      let count = kind == 5 ? 2 : kind == 2 ? 4 : 0
      values = rest.prefix(count).map { $0.first ?? 0 }[...]
      rest = rest.dropFirst(max(count, 1))
    } else if values.first == 2, values.count > 4 {
      // The first one is the number of a colour space.
      values.remove(at: values.startIndex + 1)
    }
    let numbers = values.dropFirst()
    if values.first == 5, let index = numbers.first { return color(index) }
    let parts = Array(numbers.prefix(3))
    let isExact = values.first == 2 && parts.count == 3 && parts.allSatisfy((0...255).contains)
    return isExact ? color(parts) : nil
  }
}
