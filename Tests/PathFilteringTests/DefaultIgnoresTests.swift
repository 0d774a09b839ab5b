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
    "node_modules/", "a/node_modules/b/c.js", "target/", "__pycache__/", ".venv/", "a.pyc",
    ".DS_Store", "a/.DS_Store", ".next/", ".gradle/", ".terraform/", "_build/", "docs/_build/",
    "a.egg-info/", ".zig-cache/",
  ])
  func `what build tools write for themselves is ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    ".tox/", ".nox/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/",
    ".benchmarks/", ".coverage", ".coverage.host.123.XyZ", "htmlcov/", "coverage.xml",
    "a/lcov.info", ".nyc_output/", "default.profraw", "a.gcda",
  ])
  func `caches and coverage data are ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    ".main.c.swp", ".main.c.swo", ".main.c.swx", ".main.c.swpx", "4913", "main.c~", ".#main.c",
    "#main.c#", "main.c___jb_tmp___", "main.c___jb_old___", ".main.c.kate-swp",
    ".goutputstream-X3YQ41", "sedA1b2C3", "a/sedabcdef", ".idea/", ".idea/workspace.xml",
  ])
  func `what editors write beside a file is ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(arguments: [
    "main.c", "sed.swift", "sediment", "used.c", "build/", "dist/", "out/", "bin/", "obj/",
    "coverage/", "deps/", "vendor/", "venv/", "target", "_build", "node_modules", "gitignore",
    ".gitignore", ".github/", ".env", "#main.c", "main.swp", "49131", "CVS.md",
    ".vscode/settings.json", "~main", "py.c", ".coveragerc", "coverage.py", "terraform/",
  ])
  func `what people write is not ignored`(name: String) {
    #expect(!isIgnored(name))
  }
}
