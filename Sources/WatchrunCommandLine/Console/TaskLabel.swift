/// How one of several tasks is called on the console: by its name, in a colour of its own.
struct TaskLabel: Hashable, Sendable {
  let name: String
  /// The name, as wide as the widest.
  let padded: String
  /// What switches the colour on.
  let color: String

  /// Cyan, magenta, blue, and their bright kin: green, red and yellow say how something went.
  private static let colors = [36, 35, 34, 96, 95, 94]

  private init(_ name: String, width: Int, number: Int) {
    self.name = name
    padded = name + String(repeating: " ", count: max(0, width - name.count))
    color = "\u{1B}[\(Self.colors[number % Self.colors.count])m"
  }

  /// Labels for tasks, by their names.
  static func labels(_ names: [String]) -> [String: TaskLabel] {
    let width = names.map(\.count).max() ?? 0
    let labels = names.enumerated().map { number, name in
      (name, TaskLabel(name, width: width, number: number))
    }
    return Dictionary(labels) { first, _ in first }
  }
}
