import Support

// Files with rules, recipes or processes.

// MARK: - Make

extension ProjectDetection {
  /// In the order in which make searches for them.
  private static let makefiles = ["GNUmakefile", "makefile", "Makefile"]

  /// Targets that are not files.
  private static let usualTargets: Set = [
    "all", "build", "check", "clean", "default", "distclean", "format", "help", "install", "lint",
    "run", "test", "uninstall",
  ]

  static let makefile = ProjectKind(
    name: "make", role: .wrapper, files: makefiles, usualFile: "Makefile",
    products: ["/build/", "*.o", "*.d", "*.a", "*.so"], findProducts: makeProducts,
    sources: cSources + makefiles + ["*.mk"]
  ) { directory, _ in
    let targets = makeTargets(in: directory)
    let test = ["test", "check"].first(where: targets.contains)
    // `make` alone makes the first target; the tests need not run twice.
    let isBuilt = test == nil || targets.first != test
    return (isBuilt ? [Step("build", "make")] : [])
      + (test.map { [Step("test", "make \($0)")] } ?? [])
  }

  /// The files that make writes, whatever they are called.
  @Sendable private static func makeProducts(in directory: ProjectDirectory) -> [String] {
    makeTargets(in: directory).filter {
      !usualTargets.contains($0) && !directory.holdsDirectory($0) && !makefiles.contains($0)
    }.map { "/\($0)" }
  }

  /// Whether make compiles sources in this directory itself, rather than calling another tool for it.
  static func makeCompiles(in directory: ProjectDirectory) -> Bool {
    guard let name = directory.first(of: makefiles), let text = directory.text(of: name) else {
      return false
    }
    let callsCompiler = ["$(CC)", "${CC}", "$(CXX)", "${CXX}"].contains { text.includes($0) }
    return callsCompiler
      && [".c", ".cc", ".cpp"].contains { !directory.files(endingWith: $0).isEmpty }
  }

  /// How many included files are read at most.
  private static let mostIncluded = 16

  static func makeTargets(in directory: ProjectDirectory) -> [String] {
    guard let name = directory.first(of: makefiles) else { return [] }
    var names = [name]
    var targets: [String] = []
    var index = 0
    while index < names.count {
      let text = directory.text(of: names[index]) ?? ""
      for target in makeTargets(in: text) where !targets.contains(target) { targets.append(target) }
      for file in includedFiles(in: text) where !names.contains(file) {
        if names.count <= mostIncluded { names.append(file) }
      }
      index += 1
    }
    return targets
  }

  /// The files that a makefile includes by name; patterns and variables are left out.
  private static func includedFiles(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let word = words.first, ["include", "-include", "sinclude"].contains(word) else {
        return []
      }
      return words.dropFirst().map(String.init).filter { $0.utf8.allSatisfy(isTargetByte) }
    }
  }

  /// The targets with explicit rules, in order: `a b: c` has two. Patterns and variables are left out.
  static func makeTargets(in text: String) -> [String] {
    var targets: [String] = []
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, !first.isWhitespace, first != "#",
        let colon = line.firstIndex(of: ":"), !line[colon...].hasPrefix(":="),
        !line[colon...].hasPrefix("::=")
      else { continue }
      for name in line[..<colon].split(whereSeparator: \.isWhitespace) {
        guard name.utf8.allSatisfy(isTargetByte), !name.hasPrefix("."), !name.hasPrefix("/"),
          !name.includes("..")
        else { continue }
        if !targets.contains(String(name)) { targets.append(String(name)) }
      }
    }
    return targets
  }

  private static func isTargetByte(_ byte: UInt8) -> Bool {
    JSONParser.isNameByte(byte) && byte != UInt8(ascii: "$") || Array("-./+".utf8).contains(byte)
  }
}

// MARK: - Just

extension ProjectDetection {
  static let justfile = ProjectKind(
    name: "just", role: .runner, files: ["justfile", "Justfile", ".justfile"]
  ) { directory, file in
    let recipes = recipes(in: directory.text(of: file) ?? "")
    let test = ["test", "check"].first(where: recipes.contains)
    return (recipes.contains("build") ? [Step("build", "just build")] : [])
      + (test.map { [Step("test", "just \($0)")] } ?? [])
  }

  static func justFlaw(_ directory: ProjectDirectory) -> Flaw? {
    guard let file = directory.first(of: justfile.files) else { return nil }
    let recipes = recipes(in: directory.text(of: file) ?? "").filter { !$0.hasPrefix("_") }
    return Flaw(
      in: file, lacking: "recipe 'build' or 'test'", has: recipes, command: "just")
  }

  /// The names of the recipes of a justfile: `@build target='x': deps` is `build`.
  static func recipes(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { (line: Substring) -> String? in
      let body = line.hasPrefix("@") ? line.dropFirst() : line[...]
      let name = body.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
      let rest = body.dropFirst(name.count)
      let isRule = rest.first == ":" || rest.first?.isWhitespace == true
      // Assignments and settings have ":=", the latter after another word.
      let words = rest.split(whereSeparator: \.isWhitespace)
      guard !name.isEmpty, isRule, rest.contains(":"),
        !rest.hasPrefix(":="), !words.prefix(2).contains(":=")
      else { return nil }
      return String(name)
    }
  }
}

// MARK: - Procfile

extension ProjectDetection {
  static let procfile = ProjectKind(
    name: "procfile", role: .runner,
    // The one for development is preferred to the one for deployment.
    files: ["Procfile.dev", "Procfile"], usualFile: "Procfile"
  ) { directory, file in
    processes(in: directory.text(of: file) ?? "")
  }

  /// The processes of a Procfile, as services. A `release` process runs once at a deployment.
  static func processes(in text: String) -> [Step] {
    var known: Set<String> = ["release"]
    return text.split(whereSeparator: \.isNewline).compactMap { (line: Substring) -> Step? in
      guard let colon = line.firstIndex(of: ":"), line.first != "#", line.first != "-" else {
        return nil
      }
      let name = String(line[..<colon])
      let command = line[colon...].dropFirst().drop { $0.isWhitespace }
      guard !name.isEmpty, name.utf8.allSatisfy({ JSONParser.isNameByte($0) || $0 == 0x2D }),
        !command.isEmpty, known.insert(name).inserted
      else { return nil }
      var step = Step(name, String(command))
      step.isService = true
      return step
    }
  }
}
