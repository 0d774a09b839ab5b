// What making a goal does, as far as its name and its rules tell.

extension Makefile {
  static let buildNames = ["build", "all"]
  static let testNames = ["test", "check"]

  /// Whether making the goal builds or tests: its name says so, its rules make a file, or it only stands
  /// for such goals.
  func builds(_ goal: String) -> Bool {
    var visited: Set<String> = []
    return builds(goal, &visited, depth: 0) && obstacle(to: goal) == nil
  }

  /// How many goals may stand for each other, one for the next.
  private static let deepest = 256

  private func builds(_ goal: String, _ visited: inout Set<String>, depth: Int) -> Bool {
    if Self.buildNames.contains(goal) || Self.testNames.contains(goal) {
      // `all: help` lists the goals.
      return rules[goal].map { !$0.recipe.isEmpty || $0.prerequisites != ["help"] } ?? true
    }
    guard let rule = rules[goal], !rule.isEmpty else { return Self.looksLikeFile(goal) }
    if !rule.recipe.isEmpty { return makesFile(goal) }
    guard depth < Self.deepest else { return false }
    // If one of them does something else, all of it does.
    return !visited.insert(goal).inserted
      || rule.prerequisites.allSatisfy { builds($0, &visited, depth: depth + 1) }
  }

  /// Whether the goal has a recipe that makes a file of its name. `.PHONY` need not say that it makes none.
  func makesFile(_ goal: String) -> Bool {
    guard let rule = rules[goal], !rule.recipe.isEmpty, !phony.contains(goal),
      !GoalNames.isAction(goal)
    else {
      return false
    }
    return Self.looksLikeFile(goal)
      || rule.prerequisites.contains { Self.looksLikeFile($0) && !phony.contains($0) }
      || writes(goal, in: rule)
  }

  /// Whether a command of the recipe names the goal as its output.
  private func writes(_ goal: String, in rule: Rule) -> Bool {
    let outputs = ["-o $@", "> $@", ">$@", "-o \(goal)", "> \(goal)", ">\(goal)"]
    return rule.recipe.contains { line in outputs.contains { line.includes($0) } }
  }

  private static func looksLikeFile(_ name: String) -> Bool {
    name.contains { "./$".contains($0) }
  }

  /// Why the goal must not be made by itself: another goal, or a command of a recipe, that others see or that
  /// watches. `nil` if nothing is known.
  func obstacle(to goal: String) -> String? {
    if isCut { return Self.unread }
    var length = 0
    var reached: Set = [goal]
    var pending = [goal]
    var followed: Set<String> = []
    while let next = pending.popLast() {
      if isRelease(next) { return "make \(next)" }
      if let found = ProjectDetection.Script.obstacle(["make", next], []) { return found }
      var names = rules[next]?.prerequisites ?? []
      if let name = Self.variable(in: next[...]) {
        names += variables[String(name)].map { Self.words(of: $0) } ?? []
      }
      let isProgram = makesFile(next) || rules[next].map { writes(next, in: $0) } ?? false
      for line in rules[next]?.recipe ?? [] {
        let command = command(in: line)
        length += command.utf8.count
        if length > Self.longestRecipes { return Self.unread }
        let script = ProjectDetection.Script(
          command, in: directory ?? ProjectDirectory(path: "."))
        if let found = script.find(&followed, ProjectDetection.Script.obstacle) { return found }
        if !isProgram, script.isManual(in: next, for: goal) { return "make \(next)" }
        names += script.goals(of: ["make", "gmake"])
      }
      for name in names where reached.insert(name).inserted { pending.append(name) }
    }
    return nil
  }

  /// Whether a goal makes a release. Beside one for debugging, it is only a way to compile.
  private func isRelease(_ goal: String) -> Bool {
    goal == "release" && rules["debug"] == nil && rules[goal]?.recipe.isEmpty != true
  }

  private static let longestCommand = 16384
  /// How much all recipes of a goal may say, with the values of variables.
  private static let longestRecipes = 1 << 18
  private static let unread = "recipes that are too long to read"

  /// Variables that most makefiles leave to the environment.
  private static let places: Set = ["DESTDIR", "HOME"]

  /// The line of a recipe for the shell, with the values of variables. One without a value stands for what its
  /// name says: `docker` for `$(DOCKER)`.
  private func command(in line: String) -> String {
    let start = line.drop { $0.isWhitespace || "@-+".contains($0) }
    if start.hasPrefix("#") { return "" }
    var rest = start.prefix(Self.longestCommand)
    var command = ""
    // Values may refer to each other.
    var depth = 0
    while let next = rest.first {
      if rest.hasPrefix("$$") {
        command.append("$")
        rest = rest.dropFirst(2)
      } else if depth < 8, command.utf8.count < Self.longestCommand,
        let name = Self.variable(in: rest)
      {
        rest = rest[name.endIndex...].dropFirst()
        if let value = variables[String(name)] {
          depth += value.includes("$") ? 1 : 0
          if value.includes("$") { rest = value[...] + rest } else { command += value }
        } else {
          command += Self.places.contains(String(name)) ? "$\(name)" : name.lowercased()
        }
      } else {
        command.append(next)
        rest = rest.dropFirst()
      }
    }
    return command
  }

  /// The goals that do something else than to make a file, and that people call.
  var actions: [String] {
    targets.filter { goal in
      guard let rule = rules[goal], !rule.isEmpty else { return false }
      return !Self.looksLikeFile(goal) && !makesFile(goal) && !goal.hasPrefix("_") && goal != "help"
    }
  }

  /// The targets that are files and made again, as far as is known. Without prerequisites, one is only made if it is
  /// missing: then people change it, as `config.h`.
  var files: [String] {
    targets.filter { target in
      !phony.contains(target) && !GoalNames.isAction(target) && !target.includes("$")
        && rules[target]?.prerequisites.isEmpty == false && !isSource(target)
    }
  }

  /// Whether no recipe makes a target: `paper.tex: intro.tex`.
  private func isSource(_ target: String) -> Bool {
    guard let ending = Self.ending(of: target), !madeEndings.contains(ending) else { return false }
    return rules[target]?.recipe.allSatisfy { $0.allSatisfy(\.isWhitespace) } ?? true
  }
}
