import Support

/// How projects are recognised: by the files that their tools go by.
enum Recognition {
  typealias Kind = RecognizedProject.Kind
  typealias Step = RecognizedProject.Step

  /// In the order in which they are told of.
  static let all: [@Sendable (ProjectFolder) -> Kind?] = [
    swift, cargo, go, node, python, cmake, makefile,
  ]

  static let make = "make"
  /// The tools that compile by themselves.
  static let builders: Set = ["swift", "cargo", "go", "cmake"]

  /// The names of the files, for whoever has none of them.
  static let fileNames = [
    "Package.swift", "Cargo.toml", "go.mod", "package.json", "pyproject.toml", "pytest.ini",
    "CMakeLists.txt", "Makefile",
  ]

  private static let cSources = [
    "*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.hxx", "*.m", "*.mm", "*.s", "*.S",
  ]

  private static func swift(_ folder: ProjectFolder) -> Kind? {
    guard let manifest = folder.text(of: "Package.swift") else { return nil }
    let hasTests = manifest.includes(".testTarget(") || folder.holdsFolder("Tests")
    return Kind(
      name: "swift", title: "a Swift package (Package.swift)",
      tasks: [Step("build", "swift build")] + (hasTests ? [Step("test", "swift test")] : []),
      sources: ["*.swift", "Package.resolved"] + cSources)
  }

  private static func cargo(_ folder: ProjectFolder) -> Kind? {
    guard folder.holds("Cargo.toml") else { return nil }
    return Kind(
      name: "cargo", title: "a Rust package (Cargo.toml)",
      tasks: [Step("build", "cargo build"), Step("test", "cargo test")], products: ["/target/"],
      sources: ["*.rs", "Cargo.toml", "Cargo.lock", "build.rs"])
  }

  private static func go(_ folder: ProjectFolder) -> Kind? {
    guard folder.holds("go.mod") else { return nil }
    return Kind(
      name: "go", title: "a Go module (go.mod)",
      tasks: [Step("build", "go build ./..."), Step("test", "go test ./...")],
      sources: ["*.go", "go.mod", "go.sum"] + cSources)
  }

  private static func python(_ folder: ProjectFolder) -> Kind? {
    guard let file = ["pyproject.toml", "pytest.ini"].first(where: folder.holds) else { return nil }
    let runner =
      folder.holds("uv.lock")
      ? "uv run" : folder.holds("poetry.lock") ? "poetry run" : "python3 -m"
    return Kind(
      name: "python", title: "a Python project (\(file))",
      tasks: [Step("test", "\(runner) pytest")], products: ["/build/", "/dist/", "*.egg-info/"],
      sources: ["*.py", "*.pyi", "pyproject.toml", "pytest.ini"])
  }

  private static func cmake(_ folder: ProjectFolder) -> Kind? {
    guard let lists = folder.text(of: "CMakeLists.txt") else { return nil }
    // A folder that is ignored anyway, and that nobody else builds into.
    let place = ".build/cmake"
    // The names of its commands may be written in any case, and spaces may follow them.
    let plain = lists.lowercased().filter { !$0.isWhitespace }
    let hasTests = plain.includes("enable_testing(") || plain.includes("include(ctest)")
    let test = Step("test", "ctest --test-dir \(place) --output-on-failure")
    return Kind(
      name: "cmake", title: "a CMake project (CMakeLists.txt)",
      tasks: [Step("build", "cmake -S . -B \(place) && cmake --build \(place)")]
        + (hasTests ? [test] : []),
      products: ["/build/"], sources: cSources + ["CMakeLists.txt", "*.cmake"])
  }
}

// MARK: - Node

extension Recognition {
  private static func node(_ folder: ProjectFolder) -> Kind? {
    guard let text = folder.text(of: "package.json") else { return nil }
    let manager = packageManager(folder)
    let scripts = scripts(in: text)
    let tasks = ["build", "test"].filter { name in
      // What `npm init` writes, for want of tests.
      scripts[name].map { !$0.includes("no test specified") } ?? false
    }
    if tasks.isEmpty { return nil }
    return Kind(
      name: "node", title: "a Node package (package.json)",
      tasks: tasks.map { Step($0, "\(manager) run \($0)") },
      products: [
        "/dist/", "/build/", "/out/", "/coverage/", "/.next/", "/.nuxt/", "*.tsbuildinfo",
      ],
      sources: [
        "*.js", "*.cjs", "*.mjs", "*.jsx", "*.ts", "*.cts", "*.mts", "*.tsx", "*.json", "*.css",
        "*.scss", "*.html", "*.vue", "*.svelte",
      ])
  }

  /// Why nothing is recognised, though one of the files is there.
  static func flaw(_ folder: ProjectFolder) -> String? {
    guard let text = folder.text(of: "package.json") else { return nil }
    return (try? JSONValue(parsing: Array(text.utf8))) == nil
      ? "a package.json that is no JSON" : "a package.json without a script 'build' or 'test'"
  }

  private static func packageManager(_ folder: ProjectFolder) -> String {
    let lockFiles = [
      ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"),
      ("bun.lockb", "bun"),
    ]
    return lockFiles.first { folder.holds($0.0) }?.1 ?? "npm"
  }

  private static func scripts(in package: String) -> [String: String] {
    let members = (try? JSONValue(parsing: Array(package.utf8)))?["scripts"]?.members ?? []
    let scripts = members.compactMap { member in
      if case .string(let line) = member.value.content { (member.key, line) } else { nil }
    }
    return Dictionary(scripts) { _, last in last }
  }
}

// MARK: - Make

extension Recognition {
  /// In the order in which make looks for them.
  private static let makefiles = ["GNUmakefile", "makefile", "Makefile"]

  /// Those that are no files.
  private static let usualGoals: Set = [
    "all", "build", "check", "clean", "default", "distclean", "format", "help", "install", "lint",
    "run", "test", "uninstall",
  ]

  private static func makefile(_ folder: ProjectFolder) -> Kind? {
    guard let name = makefiles.first(where: folder.holds), let text = folder.text(of: name) else {
      return nil
    }
    let goals = goals(in: text)
    let test = ["test", "check"].first(where: goals.contains)
    // What make makes is no source, whatever it is called.
    let files = goals.filter {
      !usualGoals.contains($0) && !folder.holdsFolder($0) && !makefiles.contains($0)
    }
    // What `make` alone makes; the tests need not be run twice.
    let isBuilt = test == nil || goals.first != test
    return Kind(
      name: make, title: "a \(name)",
      tasks: (isBuilt ? [Step("build", "make")] : [])
        + (test.map { [Step("test", "make \($0)")] } ?? []),
      products: ["/build/", "*.o", "*.d", "*.a", "*.so"] + files.map { "/\($0)" },
      sources: cSources + ["Makefile", "GNUmakefile", "makefile", "*.mk"])
  }

  /// The goals that are named as such, in order: `a b: c` names two. Patterns and variables are passed
  /// over.
  static func goals(in text: String) -> [String] {
    var goals: [String] = []
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, !first.isWhitespace, first != "#",
        let colon = line.firstIndex(of: ":"), !line[colon...].hasPrefix(":="),
        !line[colon...].hasPrefix("::=")
      else { continue }
      for name in line[..<colon].split(whereSeparator: \.isWhitespace) {
        let isName = name.utf8.allSatisfy {
          JSONParser.isNameByte($0) && $0 != UInt8(ascii: "$") || Array("-./+".utf8).contains($0)
        }
        guard isName, !name.hasPrefix("."), !name.hasPrefix("/"), !name.includes("..") else {
          continue
        }
        if !goals.contains(String(name)) { goals.append(String(name)) }
      }
    }
    return goals
  }
}

extension StringProtocol {
  /// Whether the text contains another one. `contains` would link the regular expression engine into
  /// the program, which is larger than watchrun itself.
  fileprivate func includes(_ part: String) -> Bool {
    var rest = utf8[...]
    while rest.count >= part.utf8.count {
      if rest.starts(with: part.utf8) { return true }
      rest = rest.dropFirst()
    }
    return part.isEmpty
  }
}
