import TestSupport
import Testing

@testable import LiveReload

/// The names of request paths, and the paths that are refused.
struct RequestPathTests {
  @Test(arguments: [
    ("/", [], true), ("/a", ["a"], false), ("/a/", ["a"], true),
    ("/a/b.c?x=/../#y", ["a", "b.c"], false),
    ("//a//b", ["a", "b"], false), ("/./a/.", ["a"], true), ("/a%20b", ["a b"], false),
    ("/a#b/../c", ["a"], false), ("/%252e%252e/x", ["%2e%2e", "x"], false),
    ("/%61%3F", ["a?"], false),
    ("/...", ["..."], false), ("/..a/b..", ["..a", "b.."], false), ("/%2e/a", ["a"], false),
    ("/caf%C3%A9", ["café"], false), ("/?", [], true), ("/a/%2E", ["a"], true),
  ])
  func `a target names components`(target: String, components: [String], endsWithSlash: Bool) throws
  {
    let path = try #require(RequestPath(target: target.utf8))
    #expect(path.components == components.map { Array($0.utf8) })
    #expect(path.endsWithSlash == endsWithSlash)
  }

  @Test(arguments: [
    "", "a", "*", "http://localhost/a", "?/", "/..", "/a/../b", "/%2e%2e/etc/passwd", "/%2e./x",
    "/.%2E", "/../../etc/passwd", "/a%2fb", "/..%2f..%2fetc", "/a\\b", "/..%5c..%5cetc",
    "/a%00.html", "/a\0", "/%", "/%4", "/%zz", "/%4/1", "/%%41", "/%+1",
  ])
  func `a target that could lead elsewhere is refused`(target: String) {
    #expect(RequestPath(target: target.utf8) == nil)
  }

  @Test(arguments: [
    ("/.git/config", true), ("/a/.env", true), ("/%2egit", true), ("/.well-known/x", false),
    ("/.well-known/.x", true), ("/.well-known2", true), ("/a.b/c", false), ("/", false),
    ("/./a", false),
  ])
  func `names that begin with a dot are recognized`(target: String, hasDotFile: Bool) {
    #expect(RequestPath(target: target.utf8)?.hasDotFile == hasDotFile)
  }

  @Test func `names need not be UTF-8`() {
    #expect(RequestPath(target: "/%ff%FE".utf8)?.components == [[0xFF, 0xFE]])
    #expect(RequestPath(target: [0x2F, 0xFF])?.components == [[0xFF]])
  }

  @Test func `no random target leads out of the directory`() {
    var random = SeededGenerator(seed: 73)
    let pieces = [
      "/", ".", "..", "%2e", "%2F", "%5c", "\\", "%00", "a", "%", "%25", "?", "#", "%c0%ae", "2e",
    ]
    for _ in 0..<5_000 {
      let target = (0..<8).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      guard let path = RequestPath(target: ("/" + target).utf8) else { continue }
      for name in path.components {
        #expect(!name.isEmpty && !name.elementsEqual("..".utf8) && !name.elementsEqual(".".utf8))
        #expect(!name.contains { $0 == 0 || $0 == 0x2F || $0 == 0x5C })
      }
    }
  }
}
