/// The rules of a makefile, as far as they can be read without running make.
struct Makefile {
  /// What all rules of a target say together.
  struct Rule: Hashable {
    var prerequisites: [String] = []
    var recipe: [String] = []

    var isEmpty: Bool { recipe.isEmpty && prerequisites.isEmpty }
  }

  /// The targets with explicit rules, in order. Variables in their names are not expanded.
  private(set) var targets: [String] = []
  private(set) var rules: [String: Rule] = [:]
  private(set) var phony: Set<String> = []
  /// The endings of files that pattern rules make, and the usual ones that make knows.
  private(set) var madeEndings: Set = [".o", ".a", ".dvi", ".info"]
  /// The values of variables, not expanded.
  private(set) var variables: [String: String] = [:]
  /// Whether there are more recipe lines than are read.
  private(set) var isCut = false
  /// What `make` alone makes; `nil` if there is nothing, or if it cannot be known.
  var defaultGoal: String? {
    if let chosenGoal { return chosenGoal.includes("$") ? nil : chosenGoal }
    return isFirstKnown ? firstGoal : nil
  }

  private var firstGoal: String?
  /// The value of `.DEFAULT_GOAL`.
  private var chosenGoal: String?
  /// Whether no file that cannot be read may define a target before the first.
  private var isFirstKnown = true
  private var readNames: Set<String> = []
  private var lineCount = 0
  let directory: ProjectDirectory?

  private static let mostFiles = 17
  /// How many lines of recipes are read at most; one that several targets share counts for each.
  private static let mostLines = 50_000

  /// - Parameter directory: Where included files are, and what recipes call.
  init(_ text: String, in directory: ProjectDirectory? = nil) {
    self.directory = directory
    read(text)
  }
}

// MARK: - Reading

extension Makefile {
  private static let includes: Set<Substring> = ["include", "-include", "sinclude"]
  private static let directives: Set<Substring> = [
    "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "unexport", "vpath", "undefine",
  ]

  private mutating func read(_ text: String) {
    // The targets of the rule whose recipe may follow.
    var current: [String] = []
    // The variable whose value the lines are, up to `endef`.
    var defined: String?
    for line in text.logicalLines {
      if let name = defined {
        let command = line.drop { $0.isWhitespace || "@-+".contains($0) }
        if command.hasPrefix("endef") {
          defined = nil
        } else if !command.hasPrefix("#") {
          variables[name, default: ""] += command + ";"
        }
        continue
      }
      if line.hasPrefix("\t"), !current.isEmpty {
        lineCount += current.count
        if lineCount > Self.mostLines {
          isCut = true
        } else {
          for target in current { rules[target]?.recipe.append(line) }
        }
        continue
      }
      var statement = Self.withoutComment(line)[...]
      var words = statement.split(whereSeparator: \.isWhitespace)[...]
      while let first = words.first, ["export", "override"].contains(first) {
        statement = statement[first.endIndex...]
        words.removeFirst()
      }
      guard let word = words.first else { continue }
      if word == "define" {
        current = []
        defined = words.dropFirst().first.map(String.init) ?? ""
        variables[defined ?? ""] = nil
      } else if Self.includes.contains(word) {
        current = []
        for file in Self.words(of: statement).dropFirst() { include(file) }
      } else if !Self.directives.contains(word) {
        current = readStatement(statement)
      }
    }
  }

  private mutating func include(_ file: String) {
    if file.contains(where: { "$*?[".contains($0) }) {
      if firstGoal == nil { isFirstKnown = false }
    } else if readNames.count < Self.mostFiles - 1, readNames.insert(file).inserted,
      let text = directory?.text(of: file)
    {
      read(text)
    }
  }

  /// Reads an assignment or the first line of a rule. Returns the rule's targets.
  private mutating func readStatement(_ statement: Substring) -> [String] {
    guard let end = Self.index(of: ":=", in: statement) else { return [] }
    let left = statement[..<end]
    var right = statement[end...].drop { $0 == ":" }
    if right.first == "=" {
      assign(left, right.dropFirst())
      return []
    }
    var recipe: [String] = []
    if let semicolon = Self.index(of: ";", in: right) {
      recipe = [String(right[semicolon...].dropFirst())]
      right = right[..<semicolon]
    }
    // A variable of these targets only.
    if Self.index(of: "=", in: right) != nil { return [] }
    let prerequisites = Self.words(of: right.drop { $0 == ":" }).filter {
      $0 != "|" && !$0.includes("%")
    }
    return Self.words(of: left).filter {
      add(Rule(prerequisites: prerequisites, recipe: recipe), $0)
    }
  }

  private mutating func assign(_ name: Substring, _ value: Substring) {
    let isAdded = name.last == "+"
    let name = String(name.drop(while: \.isWhitespace).prefix { !" \t?+!:".contains($0) })
    variables[name] = (isAdded ? variables[name, default: ""] + " " : "") + value
    if name == ".DEFAULT_GOAL" {
      chosenGoal = value.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
  }

  /// Returns whether it is the rule of a target that can be named.
  private mutating func add(_ rule: Rule, _ target: String) -> Bool {
    if target == ".PHONY" { phony.formUnion(rule.prerequisites) }
    let isSpecial = target.hasPrefix(".") && !target.includes("/")
    if isSpecial || target.includes("%") || target == "&" {
      if let ending = Self.ending(of: target) { madeEndings.insert(ending) }
      return false
    }
    if rules[target] == nil { targets.append(target) }
    rules[target, default: Rule()].prerequisites += rule.prerequisites
    rules[target, default: Rule()].recipe += rule.recipe
    firstGoal = firstGoal ?? target
    return true
  }
}

// MARK: - Text

extension String {
  /// The lines, where one that ends with a backslash is continued by the next.
  var logicalLines: [String] {
    var lines: [String] = []
    var isContinued = false
    for line in split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      let continues = line.reversed().prefix { $0 == "\\" }.count % 2 == 1
      let part = continues ? line.dropLast() : line
      if isContinued {
        lines[lines.count - 1] += " " + part
      } else {
        lines.append(String(part))
      }
      isContinued = continues
    }
    return lines
  }
}

extension Makefile {
  /// The ending of a file's name, as `.o`.
  static func ending(of name: String) -> String? {
    let file = name.split(separator: Character("/")).last ?? ""
    return file.lastIndex(of: ".").map { String(file[$0...]) }
  }

  private static func withoutComment(_ line: String) -> String {
    var isEscaped = false
    return String(
      line.prefix { character in
        defer { isEscaped = character == "\\" }
        return character != "#" || isEscaped
      })
  }

  /// The index of the first of these characters that is not in a reference to a variable.
  private static func index(of characters: String, in text: Substring) -> String.Index? {
    var depth = 0
    return text.indices.first { index in
      let character = text[index]
      if "({".contains(character) { depth += 1 }
      if ")}".contains(character) { depth -= 1 }
      return depth == 0 && characters.contains(character)
    }
  }

  /// The name in a plain reference to a variable, or in a call of it: `OBJECTS` of `$(OBJECTS)`, and of
  /// `$(call OBJECTS,a)`.
  static func variable(in word: Substring) -> Substring? {
    guard word.hasPrefix("$(") || word.hasPrefix("${") else { return nil }
    let rest = word.dropFirst(2)
    let isCall = rest.hasPrefix("call ")
    let name = rest.dropFirst(isCall ? 5 : 0).prefix {
      $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-"
    }
    guard !name.isEmpty,
      let end = word[name.endIndex...].first, end == ")" || end == "}" || isCall && end == ","
    else { return nil }
    return name
  }

  /// The words; a reference to a variable may contain spaces.
  static func words(of text: some StringProtocol) -> [String] {
    var depth = 0
    return text.split { character in
      if "({".contains(character) { depth += 1 }
      if ")}".contains(character) { depth -= 1 }
      return depth == 0 && character.isWhitespace
    }.map { String($0) }
  }
}
