import Support

/// The label of one of several tasks on the console: its name, in its own colour.
struct TaskLabel: Hashable, Sendable {
  let name: String
  /// The escape sequence that turns the colour on.
  let color: String
  /// What stands in front of its output, without and with colour.
  let prefix: [UInt8]
  let coloredPrefix: [UInt8]
  /// The columns that these take.
  let columns: Int

  /// Cyan, magenta, blue, and their bright variants. Green, red and yellow stand for results.
  private static let colors = [36, 35, 34, 96, 95, 94]

  private init(_ name: String, width: Int, number: Int) {
    self.name = name
    let padded = name + String(repeating: " ", count: max(0, width - name.columns))
    color = "\u{1B}[\(Self.colors[number % Self.colors.count])m"
    columns = padded.columns + 3
    prefix = Array("\(padded) | ".utf8)
    coloredPrefix = Array("\(color)\(padded)\u{1B}[0m | ".utf8)
  }

  static func labels(_ names: [String]) -> [String: TaskLabel] {
    let width = names.map(\.columns).max() ?? 0
    let labels = names.enumerated().map { number, name in
      (name, TaskLabel(name, width: width, number: number))
    }
    return Dictionary(labels) { first, _ in first }
  }
}
