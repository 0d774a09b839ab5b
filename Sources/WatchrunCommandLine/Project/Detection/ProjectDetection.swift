/// The table of the kinds of projects that are detected.
enum ProjectDetection {
  typealias Step = ProjectKind.Step

  /// In the order in which they are reported and their tasks are listed.
  static let kinds: [ProjectKind] = [
    swift, cargo, go, zig, node, deno, python, ruby, mix, gradle, maven, dotnet, cmake, meson,
    makefile, justfile, taskfile, procfile, hugo, mkdocs, jekyll, site,
  ]

  static let cSources = [
    "*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.hxx", "*.m", "*.mm", "*.s", "*.S",
  ]
}

// MARK: - Compiled languages

extension ProjectDetection {
  private static let swift = ProjectKind(
    name: "swift", title: "a Swift package", role: .compiler, files: ["Package.swift"],
    sources: ["*.swift", "Package.resolved"] + cSources
  ) { directory, file in
    let hasTests =
      directory.holds([file], with: ".testTarget(") || directory.holdsDirectory("Tests")
    return [Step("build", "swift build")] + (hasTests ? [Step("test", "swift test")] : [])
  }

  private static let cargo = ProjectKind(
    name: "cargo", title: "a Rust project", role: .compiler, files: ["Cargo.toml"],
    products: ["/target/"],
    // The first build writes it.
    findProducts: { $0.holds("Cargo.lock") ? [] : ["/Cargo.lock"] },
    sources: ["*.rs", "Cargo.toml", "Cargo.lock", "build.rs"], dependencyMarks: ["path=\""],
    programs: ["cargo"]
  ) { _, _ in
    [Step("build", "cargo build"), Step("test", "cargo test")]
  }

  /// A plain `go build` writes the program into the sources if the module is a single command.
  private static let go = ProjectKind(
    name: "go", title: "a Go module", role: .compiler, files: ["go.mod"],
    sources: ["*.go", "go.mod", "go.sum"] + cSources, dependencyMarks: ["=>"],
    programs: ["go"]
  ) { _, _ in
    [Step("build", "go build -o /dev/null ./..."), Step("test", "go test ./...")]
  }

  private static let zig = ProjectKind(
    name: "zig", title: "a Zig project", role: .compiler, files: ["build.zig"],
    products: ["/zig-out/", "zig-cache/", ".zig-cache/"], sources: ["*.zig", "*.zon"] + cSources
  ) { directory, file in
    let hasTests = directory.holds([file], with: "\"test\"")
    return [Step("build", "zig build")] + (hasTests ? [Step("test", "zig build test")] : [])
  }

  private static let dotnet = ProjectKind(
    name: "dotnet", title: "a .NET project", role: .compiler,
    files: ["*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"],
    products: ["obj/", "**/bin/Debug/", "**/bin/Release/", "TestResults/"],
    sources: [
      "*.cs", "*.fs", "*.vb", "*.razor", "*.cshtml", "*.xaml", "*.*proj", "*.sln", "*.props",
    ]
  ) { directory, file in
    // A solution may have test projects; of a single project it is known.
    let text = directory.text(of: file) ?? ""
    let hasTests = file.includes(".sln") || text.includes("Microsoft.NET.Test.Sdk")
    return [Step("build", "dotnet build")]
      + (hasTests ? [Step("test", "dotnet test --no-build")] : [])
  }
}

// MARK: - Java and Elixir

extension ProjectDetection {
  private static let javaSources = [
    "*.java", "*.kt", "*.kts", "*.groovy", "*.scala", "*.xml", "*.properties",
  ]

  private static let gradle = ProjectKind(
    name: "gradle", title: "a Gradle project", role: .compiler, language: "java",
    files: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    products: ["/build/", "/*/build/"], sources: javaSources + ["*.gradle"]
  ) { directory, _ in
    let gradle = directory.holds("gradlew") ? "./gradlew" : "gradle"
    return [Step("build", "\(gradle) assemble"), Step("test", "\(gradle) test")]
  }

  private static let maven = ProjectKind(
    name: "maven", title: "a Maven project", role: .compiler, language: "java", files: ["pom.xml"],
    products: ["target/"], sources: javaSources
  ) { directory, _ in
    let maven = directory.holds("mvnw") ? "./mvnw" : "mvn"
    // It compiles, too. Without -q, a green run has 45 lines.
    return [Step("test", "\(maven) -q test")]
  }

  private static let mix = ProjectKind(
    name: "mix", title: "a Mix project", role: .compiler, files: ["mix.exs"],
    products: ["/_build/", "/deps/", "/cover/"],
    sources: ["*.ex", "*.exs", "*.eex", "*.heex", "*.leex", "mix.lock"]
  ) { _, _ in
    [Step("build", "mix compile"), Step("test", "mix test")]
  }
}

// MARK: - C and C++

extension ProjectDetection {
  // Directories that are ignored anyway, and that nothing else builds into.
  private static let cmakeDirectory = ".build/cmake"
  private static let mesonDirectory = ".build/meson"

  private static let cmake = ProjectKind(
    name: "cmake", title: "a CMake project", role: .compiler, language: "c",
    files: ["CMakeLists.txt"],
    products: ["/build/"], sources: cSources + ["CMakeLists.txt", "*.cmake"]
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
    sources: cSources + ["meson.build", "meson.options", "meson_options.txt"]
  ) { directory, file in
    let plain = directory.text(of: file)?.filter { !$0.isWhitespace } ?? ""
    let hasTests = plain.includes("test(") || directory.holdsDirectory("tests")
    let place = mesonDirectory
    return [Step("build", "meson setup \(place) && meson compile -C \(place)")]
      + (hasTests ? [Step("test", "meson test -C \(place)")] : [])
  }
}
