/// The recipes of a justfile, as far as they can be read without running just.
struct Justfile {
  struct Recipe: Hashable {
    var name: String
    /// Whether it cannot be run without arguments.
    var needsArguments = false
    /// Whether it is only for other recipes.
    var isPrivate = false
  }

  private(set) var recipes: [Recipe] = []

  init(_ text: String) {
    var isPrivate = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.first == "[" {
        if line.includes("private") { isPrivate = true }
      } else if var recipe = Recipe(line) {
        recipe.isPrivate = isPrivate || recipe.name.hasPrefix("_")
        // There may be one for each system.
        if !recipes.contains(where: { $0.name == recipe.name }) { recipes.append(recipe) }
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
