import PathFiltering
import SystemCalls
import TestSupport
import Testing

/// A pattern, a path (a directory if it ends with a slash), and whether they match.
struct GlobRow: Sendable, CustomTestStringConvertible {
  let pattern: String
  let path: String
  let isMatch: Bool

  init(_ pattern: String, _ path: String, _ isMatch: Bool) {
    self.pattern = pattern
    self.path = path
    self.isMatch = isMatch
  }

  var testDescription: String { "\(pattern) \(isMatch ? "matches" : "does not match") \(path)" }

  func matches(ignoringCase: Bool = false) throws -> Bool {
    let pattern = try #require(GlobPattern(line: pattern.utf8, ignoringCase: ignoringCase))
    let isDirectory = path.hasSuffix("/")
    let bytes = Array(isDirectory ? path.dropLast().utf8 : path.utf8[...])
    return bytes.withUnsafeBufferPointer { pattern.matches($0, isDirectory: isDirectory) }
  }
}

struct GlobPatternTests {
  @Test(arguments: GlobTable.all)
  func `a pattern matches as git's tables say`(row: GlobRow) throws {
    #expect(try row.matches() == row.isMatch)
  }

  @Test(arguments: GlobTable.folded)
  func `a pattern that ignores case matches as git's tables say`(row: GlobRow) throws {
    #expect(try row.matches(ignoringCase: true) == row.isMatch)
  }

  @Test(arguments: ["", " ", "   ", "#", "# a", "#a "])
  func `blank lines and comments are not patterns`(line: String) {
    #expect(GlobPattern(line: line.utf8) == nil)
  }

  @Test(
    arguments: [
      ("a ", "a"), ("a   ", "a"), ("a\\ ", "a\\ "), ("a\\  ", "a\\ "), ("a \\ ", "a \\ "),
      ("a\t", "a\t"), ("a \t", "a \t"), ("a\\\\ ", "a\\\\"), ("a\\\\\\ ", "a\\\\\\ "), (" a", " a"),
      ("a \\", "a \\"), ("a/ ", "a/"),
    ])
  func `trailing spaces are removed unless they are escaped`(line: String, kept: String) throws {
    #expect(try #require(GlobPattern(line: line.utf8)).text == Array(kept.utf8))
  }

  @Test(arguments: ["a", "a/b", "#a", "!a", "a*", "[a]", "a\\b", "a ", " a", "a?", "{a,b}"])
  func `the pattern of a path matches only that path`(path: String) throws {
    let pattern = try #require(GlobPattern(only: Path(path)))
    for (other, isMatch) in [(path, true), ("sub/" + path, false), ("ab", false), ("a/c", false)] {
      let bytes = Array(other.utf8)
      #expect(
        bytes.withUnsafeBufferPointer { pattern.matches($0, isDirectory: false) } == isMatch)
    }
  }

  @Test func `a pattern has a negation, an anchor and a restriction to directories`() throws {
    func traits(_ line: String) throws -> [Bool] {
      let pattern = try #require(GlobPattern(line: line.utf8))
      return [pattern.isNegated, pattern.isAnchored, pattern.matchesDirectoriesOnly]
    }
    #expect(try traits("a") == [false, false, false])
    #expect(try traits("!a") == [true, false, false])
    #expect(try traits("\\!a") == [false, false, false])
    #expect(try traits("/a") == [false, true, false])
    #expect(try traits("a/b") == [false, true, false])
    #expect(try traits("a/") == [false, false, true])
    #expect(try traits("!/a/b/") == [true, true, true])
    #expect(try traits("**/a") == [false, true, false])
  }

  @Test(
    arguments: [
      ("[", .unclosedBracket), ("a[", .unclosedBracket), ("[]", .unclosedBracket),
      ("[!]", .unclosedBracket), ("[a-", .unclosedBracket), ("[a", .unclosedBracket),
      ("[[:alpha:]", .unclosedBracket), ("[a\\", .unclosedBracket), ("[[:", .unclosedBracket),
      ("[\\]", .unclosedBracket), ("x[a-\\", .unclosedBracket),
      ("[[:foo:]]", .unknownClass), ("[[::]]", .unknownClass), ("[[:ALPHA:]]", .unknownClass),
      ("\\", .trailingBackslash), ("a\\", .trailingBackslash), ("a\\/", .trailingBackslash),
      ("a/b\\", .trailingBackslash),
      ("/", .emptyName), ("!", .emptyName), ("//", .emptyName), ("a//b", .emptyName),
      ("a//", .emptyName), ("**//b", .emptyName), ("\\/a", .emptyName), ("//a", .emptyName),
    ] as [(String, GlobPattern.Defect)])
  func `a pattern that git ignores has a defect`(line: String, defect: GlobPattern.Defect) throws {
    let pattern = try #require(GlobPattern(line: line.utf8))
    #expect(pattern.defect == defect)
    for path in ["a", "b", "[", "\\", "a/b", "]"] {
      #expect(!pattern.matches(Path(path), isDirectory: true))
    }
  }

  @Test func `names that are not UTF-8 match by their bytes`() throws {
    let pattern = try #require(GlobPattern(line: [0x61, 0xFF, 0x2A]))
    #expect(pattern.matches(Path(bytes: [0x61, 0xFF, 0x62]), isDirectory: false))
    #expect(!pattern.matches(Path(bytes: [0x61, 0xFE, 0x62]), isDirectory: false))
    let any = try #require(GlobPattern(line: "?".utf8))
    #expect(any.matches(Path(bytes: [0xC3]), isDirectory: false))
    #expect(!any.matches("é", isDirectory: false), "a letter of two bytes")
    let range = try #require(GlobPattern(line: [0x5B, 0x80, 0x2D, 0xFF, 0x5D]))
    #expect(range.matches(Path(bytes: [0xC3]), isDirectory: false))
    #expect(!range.matches("a", isDirectory: false))
  }

  @Test func `a NUL ends the pattern, as it ends a line for git`() throws {
    let pattern = try #require(GlobPattern(line: [0x61, 0x20, 0x00, 0x62]))
    #expect(pattern.text == [0x61])
    #expect(GlobPattern(line: [0x00, 0x62]) == nil)
  }

  @Test func `a literal is a pattern, and a blank one or a comment matches nothing`() {
    let pattern: GlobPattern = "*.o"
    #expect(pattern.matches("a.o", isDirectory: false))
    for empty: GlobPattern in ["", "  ", "# a"] {
      #expect(empty.defect == .emptyName)
      #expect(!empty.matches("# a", isDirectory: false))
    }
  }

  @Test func `no pattern takes more than polynomial time`() throws {
    let name = String(repeating: "a", count: 250)
    let path = Array(repeating: "a", count: 1000).joined(separator: "/")
    let rows: [(pattern: String, path: String)] = [
      (String(repeating: "a*", count: 30) + "b", name),
      (String(repeating: "*a", count: 60) + "*b", name),
      (String(repeating: "*", count: 200) + "b", name),
      (String(repeating: "?*", count: 100) + "b", name),
      (String(repeating: "**/a/", count: 30) + "b", path),
      (String(repeating: "**/*a*/", count: 30) + "b", path),
      (String(repeating: "**/", count: 100) + "b", path),
      ("a/**/" + String(repeating: "*/", count: 50) + "b", path),
      (String(repeating: "[a]*", count: 60) + "[b]", name),
    ]
    for row in rows {
      let pattern = try #require(GlobPattern(line: row.pattern.utf8))
      let path = Path(row.path)
      let elapsed = processorTime {
        for _ in 0..<10 { #expect(!pattern.matches(path, isDirectory: false)) }
      }
      // An exponential matcher would never finish.
      #expect(elapsed < .seconds(5), "\(row.pattern)")
    }
  }
}
