import TestSupport
import Testing

@testable import WatchrunCommandLine

struct RecognitionTests {
  /// A folder's files, what is said of it, and what is done in it.
  private typealias Row = ([String: String], String, [String])

  private static let alone: [([String: String], String, [String])] = [
    (
      ["Package.swift": ".target(name: \"a\")", "Sources/": ""],
      "this is a Swift package (Package.swift): build", ["build: swift build"]
    ),
    (
      ["Package.swift": ".testTarget(name: \"a\")"],
      "this is a Swift package (Package.swift): build, then test",
      ["build: swift build", "test: swift test"]
    ),
    (
      ["Package.swift": "", "Tests/": ""],
      "this is a Swift package (Package.swift): build, then test",
      ["build: swift build", "test: swift test"]
    ),
    (
      ["Cargo.toml": ""], "this is a Rust package (Cargo.toml): build, then test",
      ["build: cargo build", "test: cargo test"]
    ),
    (
      ["go.mod": ""], "this is a Go module (go.mod): build, then test",
      ["build: go build ./...", "test: go test ./..."]
    ),
    (
      ["package.json": #"{"scripts": {"test": "jest", "build": "tsc", "lint": "x"}}"#],
      "this is a Node package (package.json): build, then test",
      ["build: npm run build", "test: npm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "vitest"}}"#, "pnpm-lock.yaml": ""],
      "this is a Node package (package.json): test", ["test: pnpm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"build": "x"}}"#, "yarn.lock": ""],
      "this is a Node package (package.json): build", ["build: yarn run build"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "x"}}"#, "bun.lockb": ""],
      "this is a Node package (package.json): test", ["test: bun run test"]
    ),
    (
      ["pyproject.toml": ""], "this is a Python project (pyproject.toml): test",
      ["test: python3 -m pytest"]
    ),
    (
      ["pytest.ini": "", "uv.lock": ""], "this is a Python project (pytest.ini): test",
      ["test: uv run pytest"]
    ),
    (
      ["pyproject.toml": "", "poetry.lock": ""],
      "this is a Python project (pyproject.toml): test", ["test: poetry run pytest"]
    ),
    (["Makefile": "app: a.c\n\tcc a.c\n"], "this is a Makefile: build", ["build: make"]),
    (
      ["GNUmakefile": "all:\ntest: all\n\t./run\n"], "this is a GNUmakefile: build, then test",
      ["build: make", "test: make test"]
    ),
    // What `make` alone makes is the tests.
    (["Makefile": "test:\n\t./run\n"], "this is a Makefile: test", ["test: make test"]),
    (
      ["makefile": "x: y\ncheck :\n"], "this is a makefile: build, then test",
      ["build: make", "test: make check"]
    ),
    (
      ["CMakeLists.txt": "project(x)"], "this is a CMake project (CMakeLists.txt): build",
      ["build: cmake -S . -B .build/cmake && cmake --build .build/cmake"]
    ),
    (
      ["CMakeLists.txt": "PROJECT(x)\nINCLUDE ( CTest )"],
      "this is a CMake project (CMakeLists.txt): build, then test",
      [
        "build: cmake -S . -B .build/cmake && cmake --build .build/cmake",
        "test: ctest --test-dir .build/cmake --output-on-failure",
      ]
    ),
    (
      ["CMakeLists.txt": "enable_testing()"],
      "this is a CMake project (CMakeLists.txt): build, then test",
      [
        "build: cmake -S . -B .build/cmake && cmake --build .build/cmake",
        "test: ctest --test-dir .build/cmake --output-on-failure",
      ]
    ),
  ]

  private static let together: [([String: String], String, [String])] = [
    (
      ["Package.swift": "", "package.json": #"{"scripts": {"build": "x", "test": "y"}}"#],
      "this is a Swift package (Package.swift) and a Node package (package.json): "
        + "swift-build; node-build, then node-test",
      ["swift-build: swift build", "node-build: npm run build", "node-test: npm run test"]
    ),
    (
      ["Makefile": "a: b", "pyproject.toml": ""],
      "this is a Python project (pyproject.toml) and a Makefile: python-test; make-build",
      ["python-test: python3 -m pytest", "make-build: make"]
    ),
    // A Makefile beside a tool that builds by itself wraps that.
    (
      ["Makefile": "test:\n\tcargo test", "Cargo.toml": ""],
      "this is a Rust package (Cargo.toml): build, then test; a Makefile is left out",
      ["build: cargo build", "test: cargo test"]
    ),
    (
      ["Package.swift": "", "Cargo.toml": "", "pytest.ini": ""],
      "this is a Swift package (Package.swift), a Rust package (Cargo.toml) and a Python project "
        + "(pytest.ini): swift-build; cargo-build, then cargo-test; python-test",
      [
        "swift-build: swift build", "cargo-build: cargo build", "cargo-test: cargo test",
        "python-test: python3 -m pytest",
      ]
    ),
  ]

  private func folder(_ files: [String: String]) throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory()
    for (name, text) in files {
      if name.hasSuffix("/") {
        try folder.makeDirectories(name)
      } else {
        try folder.write(text, to: name)
      }
    }
    return folder
  }

  @Test(arguments: alone + together)
  func `a folder is recognised by its files`(
    files: [String: String], summary: String, tasks: [String]
  ) throws {
    let folder = try folder(files)
    let found = try #require(RecognizedProject(ProjectFolder(path: folder.path)))
    #expect(found.summary == summary)
    #expect(found.project.tasks.map { "\($0.name): \(ProjectText.shown($0.run))" } == tasks)
  }

  @Test(arguments: alone + together)
  func `what is recognised and written as a file is read as the same`(
    files: [String: String], summary: String, tasks: [String]
  ) throws {
    let folder = try folder(files)
    let found = try #require(RecognizedProject(ProjectFolder(path: folder.path)))
    let text = ProjectText.file(found.project, found.summary)
    #expect(try readProject(text) == found.project)
    #expect(text.contains("// What watchrun does here: \(summary)"))
  }

  @Test(
    arguments: [
      [:], ["README.md": ""], ["Package.swift/": ""], ["package.json": "{"],
      ["package.json": #"{"scripts": {"start": "x"}}"#],
      ["package.json": #"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#],
    ] as [[String: String]])
  func `nothing is recognised where there is nothing`(files: [String: String]) throws {
    let folder = try folder(files)
    #expect(RecognizedProject(ProjectFolder(path: folder.path)) == nil)
  }

  @Test func `each kind watches its own sources where there are others`() throws {
    let folder = try folder(["Package.swift": "", "go.mod": ""])
    let project = try #require(RecognizedProject(ProjectFolder(path: folder.path))).project
    #expect(project.tasks.map(\.name) == ["swift-build", "go-build", "go-test"])
    #expect(project.tasks[0].filters.map(\.description).contains("*.swift"))
    #expect(project.tasks[1].filters.map(\.description).contains("*.go"))
    #expect(project.tasks[2].after == ["go-build"])
  }

  @Test(
    arguments: [
      (["Package.swift": ""], ".build/debug/a"), (["Cargo.toml": ""], "target/debug/a"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "node_modules/x/y.js"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "dist/y.js"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "build/y.js"),
      (["pyproject.toml": ""], "pkg/__pycache__/a.pyc"), (["pyproject.toml": ""], "build/lib/a.py"),
      (["CMakeLists.txt": ""], ".build/cmake/Makefile"), (["CMakeLists.txt": ""], "build/x"),
      (["Makefile": "app: a.c"], "app"), (["Makefile": "app: a.c"], "src/a.o"),
      (["Makefile": ""], "build/x"),
    ] as [([String: String], String)])
  func `what its tools make starts nothing`(files: [String: String], product: String) throws {
    let folder = try folder(files)
    let project = try #require(RecognizedProject(ProjectFolder(path: folder.path))).project
    var settings = Settings()
    settings.ignores = project.ignores
    let filter = settings.makeFilter(in: folder.path)
    #expect(
      !filter.decision(for: folder[product], isDirectory: false, below: folder.path).isIncluded)
    #expect(
      filter.decision(for: folder["source.c"], isDirectory: false, below: folder.path).isIncluded)
  }

  @Test(
    arguments: [
      ("a: b\n\tx: y\n", ["a"]), ("a b: c", ["a", "b"]), ("X := y\na:", ["a"]),
      ("X ::= y", []), ("%.o: %.c\n$(X): y", []), (".PHONY: test\ntest:", ["test"]),
      ("# a: b", []), ("a:: b\na:: c", ["a"]), ("../x: y\n/etc/z: y", []),
    ] as [(String, [String])])
  func `the goals of a makefile are those that are named`(text: String, goals: [String]) {
    #expect(Recognition.goals(in: text) == goals)
  }
}
