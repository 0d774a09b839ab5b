/// The style of terminal text.
struct Style: Hashable, Sendable {
  /// A colour of a terminal.
  enum Color: Hashable, Sendable {
    /// One of the 16 colours of the terminal's theme.
    case palette(UInt8)
    /// An exact colour.
    case rgb(UInt8, UInt8, UInt8)
  }

  /// The effects.
  var isBold = false
  var isDim = false
  var isItalic = false
  var isUnderlined = false
  var isStruck = false
  /// Whether foreground and background are swapped.
  var isInverse = false
  /// The colours; `nil` for the terminal's default.
  var foreground: Color?
  var background: Color?

  /// The classes for the page, such as `b f1`; empty for plain text.
  var classes: String {
    var names: [String] = []
    if isBold { names.append("b") }
    if isDim { names.append("d") }
    if isItalic { names.append("i") }
    if isUnderlined { names.append("u") }
    if isStruck { names.append("s") }
    // The default colours are assumed to be light on dark.
    let front = isInverse ? background ?? .palette(0) : foreground
    let back = isInverse ? foreground ?? .palette(7) : background
    if let front { names.append("f" + front.name) }
    if let back { names.append("g" + back.name) }
    return names.joined(separator: " ")
  }
}

extension Style.Color {
  /// The colour of an index in the table of 256: the palette, a cube of 6 × 6 × 6, 24 greys.
  init?(index: Int) {
    switch index {
    case 0..<16:
      self = .palette(UInt8(index))
    case 16..<232:
      let levels: [UInt8] = [0, 95, 135, 175, 215, 255]
      let cube = index - 16
      self = .rgb(levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
    case 232..<256:
      let grey = UInt8(8 + 10 * (index - 232))
      self = .rgb(grey, grey, grey)
    default:
      return nil
    }
  }

  fileprivate var name: String {
    switch self {
    case .palette(let index): return String(index)
    case .rgb(let red, let green, let blue):
      let digits = [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      return "#" + digits.joined()
    }
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
    case 1: isBold = true
    case 2: isDim = true
    case 3: isItalic = true
    case 4: isUnderlined = option != 0
    case 7: isInverse = true
    case 9: isStruck = true
    case 21: isUnderlined = true
    case 22: (isBold, isDim) = (false, false)
    case 23: isItalic = false
    case 24: isUnderlined = false
    case 27: isInverse = false
    case 29: isStruck = false
    case 30...37: foreground = .palette(UInt8(code - 30))
    case 39: foreground = nil
    case 40...47: background = .palette(UInt8(code - 40))
    case 49: background = nil
    case 90...97: foreground = .palette(UInt8(code - 90 + 8))
    case 100...107: background = .palette(UInt8(code - 100 + 8))
    default: break
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
    if values.first == 5, let index = numbers.first { return Color(index: index) }
    guard values.first == 2, numbers.count >= 3 else { return nil }
    let parts = numbers.prefix(3).compactMap { UInt8(exactly: $0) }
    return parts.count == 3 ? .rgb(parts[0], parts[1], parts[2]) : nil
  }
}
