// What making a goal does, as far as its name and its rules tell.

extension Makefile {
  /// The names of goals that build, and of those that test.
  static let buildNames = ["build", "all"]
  static let testNames = ["test", "check"]

  /// Whether making the goal builds or tests: its name says so, its rules make a file, or it only stands
  /// for such goals.
  func builds(_ goal: String) -> Bool {
    var visited: Set<String> = []
    return builds(goal, &visited) && !publishes(goal)
  }

  private func builds(_ goal: String, _ visited: inout Set<String>) -> Bool {
    if Self.buildNames.contains(goal) || Self.testNames.contains(goal) {
      // `all: help` lists the goals.
      return rules[goal].map { !$0.recipe.isEmpty || $0.prerequisites != ["help"] } ?? true
    }
    guard let rule = rules[goal] else { return Self.looksLikeFile(goal) }
    guard visited.insert(goal).inserted else { return false }
    if !rule.recipe.isEmpty { return makesFile(goal) }
    return !rule.prerequisites.isEmpty && rule.prerequisites.allSatisfy { builds($0, &visited) }
  }

  /// Whether the goal has a recipe that makes a file of its name. `.PHONY` need not say that it makes none.
  func makesFile(_ goal: String) -> Bool {
    guard let rule = rules[goal], !rule.recipe.isEmpty, !phony.contains(goal),
      !GoalNames.isAction(goal)
    else {
      return false
    }
    let outputs = ["-o $@", "> $@", ">$@", "-o \(goal)", "> \(goal)", ">\(goal)"]
    return Self.looksLikeFile(goal)
      || rule.prerequisites.contains { Self.looksLikeFile($0) && !phony.contains($0) }
      || rule.recipe.contains { line in outputs.contains { line.includes($0) } }
  }

  private static func looksLikeFile(_ name: String) -> Bool {
    name.contains { "./$".contains($0) }
  }

  /// Whether a goal that is made for this one publishes something.
  private func publishes(_ goal: String) -> Bool {
    var reached: Set = [goal]
    var pending = [goal]
    while let next = pending.popLast() {
      if GoalNames.publishes(next) { return true }
      for name in rules[next]?.prerequisites ?? [] where reached.insert(name).inserted {
        pending.append(name)
      }
    }
    return false
  }

  /// The goals that do something else than to make a file, and that people call.
  var actions: [String] {
    targets.filter { goal in
      guard let rule = rules[goal], !(rule.recipe.isEmpty && rule.prerequisites.isEmpty) else {
        return false
      }
      return !Self.looksLikeFile(goal) && !makesFile(goal) && !goal.hasPrefix("_") && goal != "help"
    }
  }

  /// The targets that are files, as far as is known.
  var files: [String] {
    targets.filter { !phony.contains($0) && !GoalNames.isAction($0) && !$0.includes("$") }
  }
}
