import PathFiltering
import SystemCalls
import Testing

@Suite struct DefaultIgnoresTests {
  private func isIgnored(_ name: String) -> Bool {
    let path = Path("/project/\(name.hasSuffix("/") ? String(name.dropLast()) : name)")
    let filter = PathFilter(base: "/project", sources: .defaults)
    let isDirectory = name.hasSuffix("/")
    return !filter.decision(for: path, isDirectory: isDirectory, below: "/project").isIncluded
  }

  @Test(
    "what tools write for themselves is ignored",
    arguments: [
      ".git/", ".git", "sub/.git", ".git/index.lock", ".hg/", ".jj/", ".build/", ".swiftpm/",
      "node_modules/", "a/node_modules/b/c.js", "target/", "__pycache__/", ".venv/", "a.pyc",
      ".DS_Store", "a/.DS_Store",
    ])
  func tools(name: String) {
    #expect(isIgnored(name))
  }

  @Test(
    "what editors write beside a file is ignored",
    arguments: [
      ".main.c.swp", ".main.c.swo", ".main.c.swx", ".main.c.swpx", "4913", "main.c~", ".#main.c",
      "#main.c#", "main.c___jb_tmp___", "main.c___jb_old___", ".main.c.kate-swp",
      ".goutputstream-X3YQ41", "sedA1b2C3", "a/sedabcdef",
    ])
  func editors(name: String) {
    #expect(isIgnored(name))
  }

  @Test(
    "what people write is not",
    arguments: [
      "main.c", "sed.swift", "sediment", "used.c", "build/", "dist/", "vendor/", "venv/", "target",
      "node_modules", "gitignore", ".gitignore", ".github/", ".env", "#main.c", "main.swp", "49131",
      "CVS.md", ".idea/", ".vscode/settings.json", "~main", "py.c",
    ])
  func sources(name: String) {
    #expect(!isIgnored(name))
  }
}
