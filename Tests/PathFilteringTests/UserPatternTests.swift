import SystemCalls
import Testing

@testable import PathFiltering

struct UserPatternTests {
  @Test(
    arguments: [
      ("*.c", ["*.c"]), ("*.{c,h}", ["*.c", "*.h"]), ("{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]),
      ("a{b,c{d,e}}", ["ab", "acd", "ace"]), ("{a,}b", ["ab", "b"]), ("{a}", ["{a}"]),
      ("{{cookiecutter.x}}/*", ["{{cookiecutter.x}}/*"]), ("\\{a,b}", ["\\{a,b}"]),
      ("a{b\\,c,d}", ["ab\\,c", "ad"]), ("!{a,b}", ["!a", "!b"]), ("}{", ["}{"]),
      ("{a{b,c}", ["{ab", "{ac"]), ("{a}b,c}", ["{a}b,c}"]),
      ("{{a,b},{c,{d,e}}}", ["a", "b", "c", "d", "e"]),
      ("./src", ["/src"]), ("./src/*.c", ["/src/*.c"]), ("!./src", ["!/src"]), ("././a", ["/a"]),
      (".//a", ["/a"]), ("./{a,b}", ["/a", "/b"]), ("{./a,b}", ["/a", "b"]), ("src/", ["src/"]),
      (".git", [".git"]), ("...", ["..."]), ("/src", ["/src"]),
    ] as [(String, [String])])
  func `a pattern has braces, and means a path by a dot in front`(
    text: String, patterns: [String]
  ) throws {
    let parsed = try GlobPattern.parse(text.utf8)
    #expect(parsed.map { String(decoding: $0.text, as: UTF8.self) } == patterns)
  }

  @Test(
    arguments: [
      ("", .empty), ("#a", .comment), ("[a", .defect(.unclosedBracket)), ("*.{c,h", .unclosedBrace),
      (".", .notBelow), ("./", .notBelow), ("../a", .notBelow), ("..", .notBelow),
      ("!../a", .notBelow),
      (String(repeating: "{a,b}", count: 10), .tooManyAlternatives),
      (String(repeating: "{a,b}", count: 40), .tooManyAlternatives),
      (String(repeating: "{", count: 100_000), .tooManyAlternatives), ("{a,b{c}", .unclosedBrace),
    ] as [(String, PatternError)])
  func `a pattern that can match nothing is refused`(text: String, error: PatternError) {
    #expect(throws: error) { try GlobPattern.parse(text.utf8) }
  }

  @Test(
    arguments: [
      ("c", ["c"]), ("c,h", ["c", "h"]), (".c,*.h", ["c", "h"]), ("*.{c,h}", ["c", "h"]),
      ("{c,h},md", ["c", "md", "h"]), ("tar.gz", ["tar.gz"]), ("c, h", ["c", "h"]), ("c,c", ["c"]),
    ] as [(String, [String])])
  func `extensions are read in every notation`(text: String, extensions: [String]) throws {
    let parsed = try GlobPattern.parseExtensions(text.utf8)
    #expect(parsed.map { String(decoding: $0, as: UTF8.self) } == extensions)
  }

  @Test(
    arguments: [
      ("", .empty), (",", .empty), ("c h", .notAnExtension(suggestion: "c,h")),
      ("c|h", .notAnExtension(suggestion: "c,h")), ("*.c *.h", .notAnExtension(suggestion: "c,h")),
      ("*", .notAnExtension(suggestion: nil)), ("src/*.c", .notAnExtension(suggestion: nil)),
      (".", .notAnExtension(suggestion: nil)), ("{c,h", .unclosedBrace),
    ] as [(String, PatternError)])
  func `an invalid extension is refused with the right form`(text: String, error: PatternError) {
    #expect(throws: error) { try GlobPattern.parseExtensions(text.utf8) }
  }

  @Test func `an absolute path below the base is relative to it`() throws {
    let patterns = try GlobPattern.parse("/p/a/src".utf8) + GlobPattern.parse("!/p/a/src/x".utf8)
    let filter = PathFilter(base: "/p/a", ignore: patterns, sources: [])
    #expect(!filter.decision(for: "/p/a/src", isDirectory: true, below: "/p/a").isIncluded)
    #expect(filter.decision(for: "/p/a/b/src", isDirectory: true, below: "/p/a").isIncluded)
    let elsewhere = PathFilter(base: "/p/ab", ignore: patterns, sources: [])
    #expect(elsewhere.decision(for: "/p/ab/src", isDirectory: true, below: "/p/ab").isIncluded)
  }
}
