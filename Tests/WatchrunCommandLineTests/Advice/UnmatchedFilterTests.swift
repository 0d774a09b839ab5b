import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct UnmatchedFilterTests {
  private func warning(_ words: String..., limit: Int = 1000) throws -> String? {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("src/deep")
    try directory.makeDirectories("build")
    for name in ["main.c", "src/deep/util.h", "build/out.py"] { try directory.write(to: name) }
    try directory.write("build/\n", to: ".ignore")
    try directory.write(to: ".env")
    let settings = try OptionParser.parse((words + ["make"]).map { Array($0.utf8) })
    return UnmatchedFilter(
      settings: settings,
      roots: settings.effectiveWatched.map { $0.path.absolute(from: directory.path) },
      directory: directory.path, limit: limit
    ).warning
  }

  @Test func `nothing is said if a file passes`() throws {
    #expect(try warning("-e", "c") == nil)
    #expect(try warning("-e", "h") == nil)
    #expect(try warning("-f", "src/**") == nil)
    #expect(try warning("-f", ".env") == nil)
  }

  @Test func `links count as files, and names in any encoding`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("a")
    try directory.link("a/link.js", to: "/nowhere")
    try directory.link("root", to: "a")
    func warning(_ words: String..., root: String = "a") throws -> String? {
      let settings = try OptionParser.parse((words + ["make"]).map { Array($0.utf8) })
      return UnmatchedFilter(
        settings: settings, roots: [directory[root]], directory: directory.path
      ).warning
    }
    #expect(try warning("-e", "js") == nil)
    #expect(try warning("-e", "js", root: "root") == nil)
    #expect(try warning("-e", "css") != nil)
    // What is in the directory to which it leads is not known.
    #expect(try warning("-L", "-e", "css") == nil)
    try directory.write(toName: Array("a/".utf8) + [0xFF] + Array(".css".utf8))
    #expect(try warning("-e", "css") == nil)
  }

  @Test func `filters that no file passes are named`() throws {
    #expect(
      try warning("-e", "js,css") == "no file passes -e js,css yet, so no change starts a run")
    #expect(try warning("-f", "*.go") == "no file passes -f '*.go' yet, so no change starts a run")
    // The only one is ignored.
    #expect(try warning("-e", "py") == "no file passes -e py yet, so no change starts a run")
  }

  @Test func `patterns that ignore all files are named`() throws {
    #expect(try warning("-i", "*") == "no file passes -i '*' yet, so no change starts a run")
    #expect(try warning("-i", "*.c") == nil)
    #expect(try warning("-i", "*.go") == nil)
  }

  @Test func `a regular expression is recognized`() throws {
    let end = "; patterns are globs, not regular expressions"
    #expect(try warning("-f", #"\.py$"#)?.hasSuffix("a run\(end): -e py") == true)
    #expect(try warning("-f", #"^src/\w+$"#)?.hasSuffix("a run\(end)") == true)
  }

  @Test func `events in place of extensions are recognized`() throws {
    #expect(
      try warning("-e", "close_write,moved_to,modify")
        == "no file passes -e close_write,moved_to,modify yet, so no change starts a run; "
        + "for kinds of change: --events modify,rename")
  }

  @Test func `nothing is said of a tree that is too large to be searched`() throws {
    #expect(try warning("-e", "py", limit: 2) == nil)
  }
}
