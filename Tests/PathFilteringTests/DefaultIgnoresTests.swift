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

  @Test(
    arguments: [
      ".git/", ".git", "sub/.git", ".git/index.lock", ".hg/", ".jj/", ".build/", ".swiftpm/",
      "node_modules/", "a/node_modules/b/c.js", "target/", "__pycache__/", ".venv/", "a.pyc",
      ".DS_Store", "a/.DS_Store",
    ])
  func `files of tools are ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(
    arguments: [
      ".main.c.swp", ".main.c.swo", ".main.c.swx", ".main.c.swpx", "4913", "main.c~", ".#main.c",
      "#main.c#", "main.c___jb_tmp___", "main.c___jb_old___", ".main.c.kate-swp",
      ".goutputstream-X3YQ41", "sedA1b2C3", "a/sedabcdef",
    ])
  func `temporary files of editors are ignored`(name: String) {
    #expect(isIgnored(name))
  }

  @Test(
    arguments: [
      "main.c", "sed.swift", "sediment", "used.c", "build/", "dist/", "vendor/", "venv/", "target",
      "node_modules", "gitignore", ".gitignore", ".github/", ".env", "#main.c", "main.swp", "49131",
      "CVS.md", ".idea/", ".vscode/settings.json", "~main", "py.c",
    ])
  func `files of people are not ignored`(name: String) {
    #expect(!isIgnored(name))
  }
}
