/// The recipes of a justfile, as far as they can be read without running just.
struct Justfile {
  struct Recipe: Hashable {
    var name: String
    var needsArguments = false
    /// Whether it is only for other recipes.
    var isPrivate = false
    /// The recipes that it runs, as far as they are known before it runs, and its lines.
    var dependencies: [String] = []
    var lines: [String] = []
  }

  private(set) var recipes: [Recipe] = []

  init(_ text: String) {
    var isPrivate = false
    var current: Int?
    var indexes: [String: Int] = [:]
    for line in text.logicalLines {
      if line.first?.isWhitespace == true {
        if let current { recipes[current].lines.append(line) }
      } else if line.first == "[" {
        if line.includes("private") { isPrivate = true }
      } else if var recipe = Recipe(line[...]) {
        recipe.isPrivate = isPrivate || recipe.name.hasPrefix("_")
        // There may be one for each system.
        current = indexes[recipe.name]
        if let current {
          recipes[current].dependencies += recipe.dependencies
        } else {
          current = recipes.count
          indexes[recipe.name] = current
          recipes.append(recipe)
        }
        isPrivate = false
      }
    }
  }
}

extension Justfile.Recipe {
  /// Reads the first line of a recipe: `@build target='x' *flags: deps` is `build`. `nil` for any other line.
  fileprivate init?(_ line: Substring) {
    var rest = line.hasPrefix("@") ? line.dropFirst() : line
    guard let name = Self.takeName(&rest) else { return nil }
    self.name = name
    guard rest.first == ":" || rest.first?.isWhitespace == true else { return nil }
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let next = rest.first else { return nil }
      if next == ":" {
        // Assignments and settings have ":=".
        if rest.hasPrefix(":=") { return nil }
        dependencies = Self.names(in: rest)
        return
      }
      let isOptional = next == "*"
      rest = rest.drop { "*+$".contains($0) }
      guard Self.takeName(&rest) != nil else { return nil }
      if rest.first == "=" {
        rest = rest.dropFirst()
        Self.skipValue(&rest)
      } else if !isOptional {
        needsArguments = true
      }
    }
  }

  /// The words that may be names of recipes or tasks.
  static func names(in text: some StringProtocol) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber && !"_-:".contains($0) }.map { String($0) }
  }

  private static func takeName(_ rest: inout Substring) -> String? {
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    rest = rest.dropFirst(name.count)
    return name.isEmpty ? nil : String(name)
  }

  /// Skips a default value: a name, a string, a command in backticks, or an expression in parentheses.
  private static func skipValue(_ rest: inout Substring) {
    var depth = 0
    var quote: Character?
    rest = rest.drop { character in
      if let open = quote {
        if character == open { quote = nil }
        return true
      }
      switch character {
      case "'", "\"", "`": quote = character
      case "(": depth += 1
      case ")": depth -= 1
      default: return depth > 0 || !(character.isWhitespace || character == ":")
      }
      return true
    }
  }
}

extension [Justfile.Recipe] {
  private static var mostReached: Int { 1000 }

  /// Why a recipe must not be run by itself: another recipe, or a command, that others see or that watches. `nil`
  /// if nothing is known.
  func obstacle(to name: String, by tool: String, in directory: ProjectDirectory) -> String? {
    var reached: Set = [name]
    var pending = [name]
    var followed: Set<String> = []
    while let next = pending.popLast() {
      if reached.count > Self.mostReached { return "more recipes than are read" }
      if let found = ProjectDetection.Script.obstacle([tool, next], []) { return found }
      guard let recipe = first(where: { $0.name == next }) else { continue }
      var names = recipe.dependencies
      for line in recipe.lines {
        let start = line.drop { $0.isWhitespace || "@-".contains($0) }
        let script = ProjectDetection.Script(String(start), in: directory)
        if let found = script.find(&followed, ProjectDetection.Script.obstacle) { return found }
        if script.isManual(in: next, for: name) { return "\(tool) \(next)" }
        names += script.goals(of: [tool])
      }
      for name in names where reached.insert(name).inserted { pending.append(name) }
    }
    return nil
  }
}
