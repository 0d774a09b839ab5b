/// A parser of the control characters and escape sequences in a line of terminal output.
package struct EscapeParser {
  /// The effect of a character.
  package enum Action: Hashable {
    /// It is printed.
    case text
    /// It completes a sequence that sets colours and effects (SGR), with these parameters.
    case style([UInt8])
    case carriageReturn, backspace
    /// It completes a sequence that moves to a column, counted from 0.
    case column(Int)
    /// It completes a sequence that erases in the line: 0, 1 or 2, as in EL.
    case erase(Int)
    /// It completes a sequence that resets the terminal.
    case reset
    /// It is part of a sequence, or is ignored.
    case nothing
  }

  private enum State {
    case text
    /// After ESC, and after intermediate characters.
    case escape, intermediate
    case controlSequence
    /// In a string, such as a window's title; the first kind may end with BEL.
    case operatingSystemCommand, string
    /// After ESC in such a string.
    case stringEscape
  }

  private var state = State.text
  private var parameters: [UInt8] = []
  /// Whether the sequence is unsupported or too long.
  private var isForeign = false

  /// Whether a character that controls nothing is printed.
  package var expectsText: Bool { state == .text }

  package init() {}

  /// Processes the next character.
  package mutating func consume(_ scalar: Unicode.Scalar) -> Action {
    switch state {
    case .text: return text(scalar)
    case .escape, .intermediate: return escape(scalar)
    case .controlSequence: return controlSequence(scalar)
    case .operatingSystemCommand, .string, .stringEscape:
      string(scalar)
      return .nothing
    }
  }

  private mutating func text(_ scalar: Unicode.Scalar) -> Action {
    switch scalar.value {
    case 0x08: return .backspace
    case 0x09: return .text
    case 0x0D: return .carriageReturn
    case 0x1B: state = .escape
    case 0x90, 0x98, 0x9E, 0x9F: state = .string
    case 0x9B: beginControlSequence()
    case 0x9D: state = .operatingSystemCommand
    case 0..<0x20, 0x7F..<0xA0: break
    // Changes and marks of the direction, and further ends of lines, make a line look like another one.
    case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029, 0xFEFF: break
    default: return .text
    }
    return .nothing
  }

  private mutating func beginControlSequence() {
    state = .controlSequence
    parameters = []
    isForeign = false
  }

  private mutating func escape(_ scalar: Unicode.Scalar) -> Action {
    let isFirst = state == .escape
    state = .text
    switch scalar.value {
    case 0x1B: state = .escape
    case 0x20...0x2F: state = .intermediate
    case _ where !isFirst: break
    case 0x5B: beginControlSequence()
    case 0x5D: state = .operatingSystemCommand
    case 0x50, 0x58, 0x5E, 0x5F: state = .string
    case 0x63: return .reset
    case 0x30...0x7E: break
    default: return text(scalar)
    }
    return .nothing
  }

  private mutating func controlSequence(_ scalar: Unicode.Scalar) -> Action {
    switch scalar.value {
    case 0x1B: state = .escape
    case 0x30...0x3B where parameters.count < 256: parameters.append(UInt8(scalar.value))
    case 0x20...0x3F: isForeign = true
    case 0x40...0x7E:
      state = .text
      return isForeign ? .nothing : obey(scalar)
    case 0..<0x20, 0x7F: break
    default:
      state = .text
      return text(scalar)
    }
    return .nothing
  }

  private func obey(_ final: Unicode.Scalar) -> Action {
    let number = parameters.prefix { $0.isDigitASCII }.decimal(limit: 9_999)
    switch final {
    case "m": return .style(parameters)
    case "G": return .column(max(1, number ?? 1) - 1)
    case "K": return .erase(number ?? 0)
    default: return .nothing
    }
  }

  private mutating func string(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    // ESC \ ends the string; ESC and any other character end it and begin a sequence.
    case _ where state == .stringEscape:
      state = .escape
      _ = escape(scalar)
    case 0x1B: state = .stringEscape
    case 0x07 where state == .operatingSystemCommand: state = .text
    case 0x18, 0x1A, 0x9C: state = .text
    default: break
    }
  }
}
