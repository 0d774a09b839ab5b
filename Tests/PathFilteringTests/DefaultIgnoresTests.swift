import PathFiltering
import SystemCalls
import Testing

struct DefaultIgnoresTests {
  private func isIgnored(_ name: String) -> Bool {
    let path = Path("/project/\(name.hasSuffix("/") ? String(name.dropLast()) : name)")
    let filter = PathFilter(base: "/project", sources: .defaults)
    let isDirectory = name.hasSuffix("/")
    return !filter.decision(for: path, isDirectory: isDirectory, below: "/project").isIncluded
  }

  @Test(arguments: [
    ".git/", ".git", "sub/.git", ".git/index.lock", ".hg/", ".jj/", ".build/", ".swiftpm/",
    "node_modules/", "a/node_modules/b/c.js", "__pycache__/", ".venv/", "a.pyc",
    ".DS_Store", "a/.DS_Store", ".next/", ".gradle/", ".terraform/", "_build/", "docs/_build/",
    "a.egg-info/", ".zig-cache/", "build/.ninja_log", "CMakeFiles/",
  ])
  func `what build tools write for themselves is ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    ".tox/", ".nox/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/",
    ".benchmarks/", ".coverage", ".coverage.host.123.XyZ", "htmlcov/", "coverage.xml",
    "a/lcov.info", ".nyc_output/", "default.profraw", "a.gcda", "pytest-cache-files-rktxhii1/",
    "junit.xml", ".eslintcache",
  ])
  func `caches and coverage data are ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    ".main.c.swp", ".main.c.swo", ".main.c.swx", ".main.c.swpx", "4913", "main.c~", ".#main.c",
    "#main.c#", "main.c___jb_tmp___", "main.c___jb_old___", ".main.c.kate-swp",
    ".goutputstream-X3YQ41", "sedA1b2C3", "a/sedabcdef", ".idea/", ".idea/workspace.xml",
    ".~lock.text.odt#",
  ])
  func `what editors write beside a file is ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    "db.sqlite3", "a/db.sqlite3-journal", "db.sqlite3-wal", "app.db-wal", "app.db-shm",
    "app.db-journal", "dump.rdb", "celerybeat-schedule", "a/celerybeat-schedule.dat",
    "celerybeat-schedule.db", "celerybeat-schedule-wal", "celerybeat.pid",
  ])
  func `databases and their logs are ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    "main.c", "sed.swift", "sediment", "used.c", "build/", "dist/", "out/", "bin/", "obj/",
    "coverage/", "deps/", "vendor/", "venv/", "target/", "a/target/b.c", "_build", "node_modules",
    "gitignore",
    ".gitignore", ".github/", ".env", "#main.c", "main.swp", "49131", "CVS.md",
    ".vscode/settings.json", "~main", "py.c", ".coveragerc", "coverage.py", "terraform/",
    "app.db", "sqlite3.py", "celerybeat-schedule.py", "celerybeat.py", "dump.c", "pytest-cache.py",
    "clover.xml", "coverage-final.json", "4913/a", "sediments/a",
  ])
  func `what people write is not ignored`(name: String) {
    #expect(!isIgnored(name))
  }

  @Test(arguments: ["lcov.info", "clover.xml", "coverage-final.json"])
  func `everything in a directory coverage that holds a report is ignored`(report: String) throws {
    let tree = try TemporaryTree()
    let filter = PathFilter(
      base: tree.root, sources: [.defaults, .project], environment: tree.environment)
    func explain(_ name: String) -> String {
      filter.decision(for: tree.path(name), isDirectory: false, below: tree.root).description
    }
    try tree.write("coverage/index.html", "")
    try tree.write("src/coverage/a.c", "")
    #expect(explain("coverage/index.html") == "::")
    try tree.write("coverage/\(report)", "")
    try tree.write("src/\(report)", "")
    try tree.write("src/a.c", "")
    let number = DefaultIgnores.patterns.count + 1
    #expect(explain("coverage/index.html") == "built-in:\(number):/coverage/*")
    #expect(explain("coverage/src/a.html") == "built-in:\(number):/coverage/*")
    #expect(explain("coverage") == "::")
    #expect(explain("src/coverage/a.c") == "::")
    #expect(explain("src/a.c") == "::")
    try tree.write(".watchrunignore", "!/coverage/*.html\n")
    #expect(explain("coverage/index.html") == ".watchrunignore:1:!/coverage/*.html")
  }

  @Test(arguments: [
    ("Cargo.toml", "target/debug/a.o", true),
    ("sub/pom.xml", "sub/target/a.class", true),
    ("sub/pom.xml", "target/a.c", false),
    ("pom.xml", "src/main/java/target/A.java", false),
    ("build.sbt", "core/target/a.class", true),
    ("build.sbt", "core/src/main/scala/target/A.scala", false),
  ])
  func `a directory target is ignored where the tool that writes it is at home`(
    marker: String, file: String, ignores: Bool
  ) throws {
    let tree = try TemporaryTree()
    let filter = PathFilter(
      base: tree.root, sources: [.defaults, .project], environment: tree.environment)
    func isIgnored() -> Bool {
      !filter.decision(for: tree.path(file), isDirectory: false, below: tree.root).isIncluded
    }
    try tree.write(file, "")
    #expect(!isIgnored())
    try tree.write(marker, "")
    #expect(isIgnored() == ignores)
    try tree.write(".watchrunignore", "!target/\n")
    #expect(!isIgnored())
  }

  @Test func `such a rule holds below a watched directory, but in no other repository`() throws {
    let tree = try TemporaryTree()
    try tree.write("build.sbt", "")
    try tree.write("core/target/a.class", "")
    try tree.write("other/.git/HEAD", "")
    try tree.write("other/target/a.c", "")
    try tree.write("other/core/pom.xml", "")
    try tree.write("other/core/target/a.class", "")
    let filter = PathFilter(
      base: tree.root, sources: [.defaults, .versionControl], environment: tree.environment)
    func isIgnored(_ file: String, below root: String) -> Bool {
      !filter.decision(for: tree.path(file), isDirectory: false, below: tree.path(root)).isIncluded
    }
    #expect(isIgnored("core/target/a.class", below: "core"))
    #expect(!isIgnored("other/target/a.c", below: ""))
    #expect(isIgnored("other/core/target/a.class", below: ""))
  }
}
