import Support
import SystemCalls

/// The table of the kinds of projects that are detected.
package enum ProjectDetection {
  typealias Step = Project.Task

  /// In the order in which they are reported and their tasks are listed.
  static let kinds: [ProjectKind] = [
    swift, cargo, go, zig, node, deno, python, ruby, php, mix, dune, gradle, maven, dotnet, cmake,
    meson, makefile, justfile, taskfile, procfile, hugo, mkdocs, jekyll, site,
  ]

  static let cSources = [
    "*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.hxx", "*.m", "*.mm", "*.s", "*.S",
  ]

  /// What programs and tests of any language read.
  static let data = [
    "*.csv", "*.html", "*.json", "*.sql", "*.toml", "*.txt", "*.yaml", "*.yml", "fixtures/",
    "resources/", "templates/", "testdata/",
  ]
}

extension ProjectDetection {
  /// The tasks `build` and `test` with these lines, the second one where there are tests.
  static func steps(
    _ build: String, _ test: String,
    _ hasTests: @escaping @Sendable (ProjectDirectory, _ file: String) -> Bool = { _, _ in true }
  ) -> @Sendable (ProjectDirectory, String) -> [Step] {
    { directory, file in
      [Step("build", build)] + (hasTests(directory, file) ? [Step("test", test)] : [])
    }
  }
}

// MARK: - Compiled languages

extension ProjectDetection {
  private static let swift = ProjectKind(
    name: "swift", title: "a Swift package", role: .compiler, files: ["Package.swift"],
    sources: ["*.swift", "Package.resolved"] + cSources,
    tasks: steps("swift build", "swift test") {
      $0.holds([$1], with: ".testTarget(") || $0.holdsDirectory("Tests")
    })

  private static let cargo = ProjectKind(
    name: "cargo", title: "a Rust project", role: .compiler, files: ["Cargo.toml"],
    products: ["/target/"],
    // The first build writes it.
    findProducts: { $0.holds("Cargo.lock") ? [] : ["/Cargo.lock"] },
    sources: ["*.rs", "Cargo.toml", "Cargo.lock", "build.rs"], dependencyMarks: ["path=\""],
    findSiblings: { root, member in
      guard root.holds(["Cargo.toml"], with: "[workspace") else { return [] }
      return CargoDependency.inherited(by: member, from: root)
    },
    programs: ["cargo"]
  ) { directory, file in
    let each = cargoMembers(of: directory)
    return [
      Step("build", "cargo build", each: each), Step("test", "cargo test", each: each),
    ]
  }

  /// A plain `go build` writes the program into the sources if the module is a single command.
  private static let go = ProjectKind(
    name: "go", title: "a Go module", role: .compiler, files: ["go.mod", "go.work"],
    sources: ["*.go", "go.mod", "go.sum", "go.work"] + cSources, dependencyMarks: ["=>"],
    findSiblings: { root, member in
      let paths = goModules(of: root).map { Path($0).absolute(from: root.path) }
      return paths.contains(member.path) ? paths : []
    },
    programs: ["go"]
  ) { directory, file in
    let modules = goModules(of: directory).filter {
      // A task with 'each' is for directories below.
      Path($0).absolute(from: directory.path).relative(to: directory.path) != nil
    }
    let each =
      modules.count > 1 || file == "go.work" ? modules.map { manifest("go.mod", in: $0) } : []
    return [
      Step("build", "go build -o /dev/null ./...", each: each),
      Step("test", "go test ./...", each: each),
    ]
  }

  private static let zig = ProjectKind(
    name: "zig", title: "a Zig project", role: .compiler, files: ["build.zig"],
    products: ["/zig-out/", "zig-cache/", ".zig-cache/"], sources: ["*.zig", "*.zon"] + cSources,
    tasks: steps("zig build", "zig build test") { $0.holds([$1], with: "\"test\"") })

  private static let dotnet = ProjectKind(
    name: "dotnet", title: "a .NET project", role: .compiler,
    files: ["*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"],
    products: ["obj/", "**/bin/Debug/", "**/bin/Release/", "TestResults/"],
    sources: [
      "*.cs", "*.fs", "*.vb", "*.razor", "*.cshtml", "*.xaml", "*.resx", "*.*proj", "*.sln*",
      "*.props", "*.targets",
    ]
  ) { directory, file in
    let name = isBuiltUnnamed(file, in: directory) ? "" : " " + ShellWords.quoted(file.word)
    // A solution may have test projects; of a single project it is known.
    let hasTests = file.includes(".sln") || directory.holds([file], with: "Microsoft.NET.Test.Sdk")
    return [Step("build", "dotnet build\(name)")]
      + (hasTests ? [Step("test", "dotnet test --no-build\(name)")] : [])
  }

  /// Whether MSBuild takes the file by itself: beside it, there is at most the project of a solution of its name.
  private static func isBuiltUnnamed(_ file: String, in directory: ProjectDirectory) -> Bool {
    let solutions = [".sln", ".slnx"].flatMap(directory.files)
    let all = solutions + directory.files(endingWith: "proj")
    let names = Set(all.map { $0.split(separator: Character(".")).dropLast() })
    return all == [file] || all.count == 2 && solutions.count == 1 && names.count == 1
  }
}

// MARK: - Java, Elixir and OCaml

extension ProjectDetection {
  private static let javaSources = [
    "*.java", "*.kt", "*.kts", "*.groovy", "*.scala", "*.xml", "*.properties",
  ]

  private static let gradle = ProjectKind(
    name: "gradle", title: "a Gradle project", role: .compiler, language: "java",
    files: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    products: ["/build/", "/*/build/"], sources: javaSources + ["*.gradle"]
  ) { directory, _ in
    let gradle = wrapper("gradlew", or: "gradle", in: directory)
    return [Step("build", "\(gradle) assemble"), Step("test", "\(gradle) test")]
  }

  private static let maven = ProjectKind(
    name: "maven", title: "a Maven project", role: .compiler, language: "java", files: ["pom.xml"],
    sources: javaSources
  ) { directory, _ in
    let maven = wrapper("mvnw", or: "mvn", in: directory)
    // It compiles, too. Without -q, a green run has 45 lines.
    return [Step("test", "\(maven) -q test")]
  }

  /// How the script of a project is run that installs the tool, or else the tool. An archive may have no modes.
  private static func wrapper(
    _ script: String, or tool: String, in directory: ProjectDirectory
  ) -> String {
    if !directory.holds(script) { return tool }
    return (isExecutable(directory.path.appending(script)) ? "./" : "sh ./") + script
  }

  private static let mix = ProjectKind(
    name: "mix", title: "a Mix project", role: .compiler, files: ["mix.exs"],
    products: ["/_build/", "/deps/", "/cover/"],
    sources: ["*.ex", "*.exs", "*.eex", "*.heex", "*.leex", "mix.lock"],
    tasks: steps("mix compile", "mix test"))

  private static let dune = ProjectKind(
    name: "dune", title: "a dune project", role: .compiler, files: ["dune-project"],
    sources: ["*.ml", "*.mli", "*.mll", "*.mly", "dune", "dune-project", "*.opam"],
    tasks: steps("dune build", "dune test"))
}

// MARK: - C and C++

extension ProjectDetection {
  // Directories that are ignored anyway, and that nothing else builds into.
  private static let cmakeDirectory = ".build/cmake"
  private static let mesonDirectory = ".build/meson"

  private static let cmake = ProjectKind(
    name: "cmake", title: "a CMake project", role: .compiler, language: "c",
    files: ["CMakeLists.txt"],
    products: ["/build/"], sources: cSources + ["CMakeLists.txt", "*.cmake"], comparesTimes: true
  ) { directory, file in
    // Commands are case-insensitive, and spaces may follow their names.
    let plain = directory.text(of: file)?.lowercased().filter { !$0.isWhitespace } ?? ""
    let hasTests = plain.includes("enable_testing(") || plain.includes("include(ctest)")
    let place = cmakeDirectory
    let test = Step("test", "ctest --test-dir \(place) --output-on-failure")
    // The generator of a directory cannot be changed. What is configured does that again by itself.
    let usesNinja = directory.findsProgram("ninja") && !directory.holds("\(place)/Makefile")
    let (rules, option) = usesNinja ? ("build.ninja", " -G Ninja") : ("Makefile", "")
    let build =
      "[ -f \(place)/\(rules) ] || cmake -S . -B \(place)\(option) && cmake --build \(place)"
    return [Step("build", build)] + (hasTests ? [test] : [])
  }

  /// `meson setup` does nothing to a directory that is set up already.
  private static let meson = ProjectKind(
    name: "meson", title: "a Meson project", role: .compiler, language: "c", files: ["meson.build"],
    products: ["/build/", "/builddir/"],
    sources: cSources + ["meson.build", "meson.options", "meson_options.txt"],
    comparesTimes: true,
    tasks: steps(
      "meson setup \(mesonDirectory) && meson compile -C \(mesonDirectory)",
      "meson test -C \(mesonDirectory)"
    ) { directory, file in
      let plain = directory.text(of: file)?.filter { !$0.isWhitespace } ?? ""
      return plain.includes("test(") || directory.holdsDirectory("tests")
    })
}

// MARK: - Nothing detected

extension ProjectDetection {
  /// Why nothing was detected, and what to type instead.
  struct Flaw {
    let reason: String
    var remedy: String?

    init(reason: String) { self.reason = reason }

    /// A file has other entries than those that are looked for; the first is suggested.
    init(in file: String, lacking what: String, has others: [ProjectKind.Offer]) {
      if others.isEmpty {
        reason = "\(file) has no \(what)"
        return
      }
      let refusals = others.compactMap(\.refusal)
      reason =
        refusals.isEmpty
        ? "\(file) has no \(what), but \(some(of: others.map { "'\($0.name)'" }))"
        : refusals.joined(separator: "; ")
      remedy = "watchrun " + (others.first { $0.publication == nil }?.command ?? "COMMAND")
    }
  }

  /// The flaw of the first file that is known and has no usual task, but others if possible.
  static func flaw(_ directory: ProjectDirectory) -> Flaw? {
    if let flaw = packageFlaw(directory) { return flaw }
    if let flaw = configurationFlaw(directory) { return flaw }
    let flaws = kinds.compactMap { kind -> Flaw? in
      guard let wanted = kind.wanted, let file = directory.first(of: kind.files) else { return nil }
      return Flaw(in: file, lacking: wanted, has: kind.findOthers?(directory, file) ?? [])
    }
    return flaws.first { $0.remedy != nil } ?? flaws.first
  }

  /// What autoconf made, or is to make, and what makes a Makefile of it; `nil` if there is one.
  private static func configurationFlaw(_ directory: ProjectDirectory) -> Flaw? {
    guard readMakefile(in: directory) == nil,
      let file = directory.first(of: ["configure", "configure.ac", "configure.in"])
    else { return nil }
    let makeConfigure = directory.holds("autogen.sh") ? "sh autogen.sh" : "autoreconf -i"
    let steps = (file == "configure" ? "" : makeConfigure + " && ") + "./configure"
    var flaw = Flaw(reason: "no Makefile yet; make it, and start again")
    flaw.remedy = "\(steps) && watchrun"
    return flaw
  }

  static let mostNames = 8

  /// As many names as fit into a line.
  static func some(of names: [String]) -> String {
    names.prefix(mostNames).joined(separator: ", ") + (names.count > mostNames ? ", …" : "")
  }
}
