import SystemCalls
import TestSupport
import Testing

@testable import Diagnostics

struct DiagnosticReaderTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for name in ["a.c", "b.c", "a.py", "a.sh"] { try directory.write(to: name) }
    try File.makeDirectories(directory["sub/deep"])
    try directory.write(to: "sub/deep/only.c")
    try directory.write(to: "sub/a.c")
  }

  private func found(_ output: String) -> [String] {
    DiagnosticReader.diagnostics(in: Array(output.utf8), of: directory.path).map {
      $0.quickfixLine(in: directory.path)
    }
  }

  @Test(arguments: [
    ("a.c:3:5: error: no", "a.c:3:5: error: no"), ("a.c:3: warning: no", "a.c:3:1: warning: no"),
    ("./a.c:3:5: note: no", "a.c:3:5: note: no"),
    ("a.c:3:5: fatal error: no", "a.c:3:5: error: no"),
    ("a.c:3:5 - error TS2304: no", "a.c:3:5: error: no"),
    ("a.c(3,5): error TS2304: no", "a.c:3:5: error: no"),
    ("a.c(3): error C2065: no", "a.c:3:1: error: no"),
    ("web_1 | a.c:3:5: error: no", "a.c:3:5: error: no"),
    ("a.c:3:5: no", "a.c:3:5: error: no"),
    ("a.c:3:5: no [Warning/semi]", "a.c:3:5: warning: no"),
    ("a.sh: line 3: no: command not found", "a.sh:3:1: error: no: command not found"),
    ("a.sh: 3: no: not found", "a.sh:3:1: error: no: not found"),
    ("/usr/bin/ld: cannot find -lno", "error: cannot find -lno"),
    ("(node:1) Warning: no\n    at f (a.c:3:5)", "a.c:3:5: warning: (node:1) Warning: no"),
    ("Error: Warning: no\n    at f (a.c:3:5)", "a.c:3:5: error: Error: Warning: no"),
    ("a build: /usr/bin/ld: cannot find -lno", "error: cannot find -lno"),
    // Progress overwrites its line again and again.
    (
      String(repeating: "Building [=> ] 1/2\r", count: 1000) + "\u{1B}[Ka.c:3:5: error: no",
      "a.c:3:5: error: no"
    ),
    // The form leaves no doubt, though there is no such file.
    ("gone.c:3:5: error: no", "gone.c:3:5: error: no"),
    ("gone/a.com:3:5: error: no", "gone/a.com:3:5: error: no"),
    // Only the end of the path is printed.
    ("deep/only.c:3:5: error: no", "sub/deep/only.c:3:5: error: no"),
    ("make: *** No rule to make target 'x'.  Stop.", "error: No rule to make target 'x'"),
    ("error: the manifest is invalid", "error: the manifest is invalid"),
    // As at a terminal.
    (
      "Building [=> ] 1/2\r\u{1B}[K"
        + #"{"$message_type":"diagnostic","message":"no","level":"help","#
        + #""spans":[{"file_name":"a.c","line_start":3,"column_start":5,"is_primary":true}]}"#
        + "\r",
      "a.c:3:5: note: no"
    ),
  ])
  func `a diagnostic is recognised by its form`(line: String, expected: String) {
    #expect(found("before\n\(line)\nafter\n") == [expected])
  }

  @Test(arguments: [
    "12:30:45 error: no", "2024-01-01T12:30:45 error: no", "[12:30:45]: error: no", "a.c: error",
    "http://localhost:8080/: error: no", "a.c:3:5:   required from here",
    "build: cannot find no, using yes", "a.c:3: found", "src/a.c:12: int main(void) {",
    "api.example.com:443: error: connection refused", "http://a.b:80: error: no",
    "gone.c:3:5: no", "make: *** [Makefile:2: all] Error 1", "a.c:0:0: error: no", "error: ",
    "no error: here", "", ":", "::::", "a.c:", "error", "--> a.c:3:5", "File \"a.py\", line 3",
    "panicked at a.c:3:5", "  3:5  error  no", "In a.sh line 3:", "at a.c:3:5",
    "x recorded an issue at ", "E   assert", "a.py:3: AssertionError", "panic: no",
    "  --> ", "not ok 1 - x", "location: 'a.c:3:5'",
  ])
  func `what is no diagnostic is left alone`(line: String) {
    #expect(found(line + "\n") == [])
    #expect(found(line) == [])
  }

  /// As `cargo` in a member of a workspace.
  @Test func `a path is also looked for above the directory of the task`() {
    let output = "error[E0308]: no\n  --> sub/deep/only.c:3:5\n  |\n3 | x\nsub/a.c:1:2: error: no\n"
    let found = DiagnosticReader.diagnostics(in: Array(output.utf8), of: directory["sub/deep"])
    #expect(found.map(\.path) == [directory["sub/deep/only.c"], directory["sub/a.c"]])
  }

  @Test func `the error of a whole tool counts only without others`() {
    #expect(found("a.c:3:5: error: no\nclang: error: linker failed\n") == ["a.c:3:5: error: no"])
    #expect(found("clang: error: linker failed\n") == ["error: linker failed"])
    // A warning is no reason for a failure.
    #expect(
      found("a.c:3:5: warning: no\nclang: error: linker failed\n")
        == ["a.c:3:5: warning: no", "error: linker failed"])
  }

  @Test func `colours and what was overwritten are left out`() {
    #expect(
      found("\u{1B}[1ma.c:3:5: \u{1B}[0;1;31merror: \u{1B}[0mno ä\u{1B}[K\r\n")
        == ["a.c:3:5: error: no ä"])
    #expect(found("Building 3/5\ra.c:3:5: error: no\n") == ["a.c:3:5: error: no"])
    #expect(
      found("\u{1B}]8;;file:///x\u{1B}\\a.c:3:5\u{1B}]8;;\u{1B}\\: error: no\n")
        == ["a.c:3:5: error: no"])
  }

  @Test func `a message holds nothing that controls a terminal`() {
    #expect(
      found("a.c:3:5: error: no\u{7}\u{9B}31m \u{202E}x\ty\n") == ["a.c:3:5: error: no x y"])
    #expect(found("a.c:3:5: error: " + String(repeating: "ä", count: 9_000)).map(\.count) == [265])
    #expect(
      found("a.c:3:5: error: x" + String(repeating: "ä", count: 9_000)).allSatisfy {
        $0.hasSuffix("ä")
      })
  }

  @Test func `a repeated diagnostic counts once`() {
    #expect(
      found("a.c:3:5: error: no\nb.c:3:5: error: no\na.c:3:5: error: no\n")
        == ["a.c:3:5: error: no", "b.c:3:5: error: no"])
  }

  @Test func `paths start from the directories that make enters`() {
    let path = directory.path
    #expect(
      found(
        """
        make[1]: Entering directory '\(path)/sub'
        a.c:1:2: error: one
        make[2]: Entering directory '\(path)/sub/deep'
        only.c:1:2: error: two
        make[2]: Leaving directory '\(path)/sub/deep'
        a.c:1:2: error: three
        make[1]: Leaving directory '\(path)/sub'
        a.c:1:2: error: four
        """) == [
          "sub/a.c:1:2: error: one", "sub/deep/only.c:1:2: error: two", "sub/a.c:1:2: error: three",
          "a.c:1:2: error: four",
        ])
  }

  /// With `-j`, the lines of several directories are mixed.
  @Test func `make leaves the directory that it names`() {
    let path = directory.path
    #expect(
      found(
        """
        make[1]: Entering directory '\(path)/sub'
        make[1]: Entering directory '\(path)/sub/deep'
        make[1]: Leaving directory '\(path)/sub'
        only.c:1:2: error: one
        make[1]: Leaving directory '\(path)/sub/deep'
        a.c:1:2: error: two
        """) == ["sub/deep/only.c:1:2: error: one", "a.c:1:2: error: two"])
    #expect(
      found(
        """
        make[1]: Entering directory '\(path)/sub'
        make[1]: Leaving directory '/elsewhere'
        a.c:1:2: error: no
        """) == ["a.c:1:2: error: no"])
  }

  @Test func `a line without a message spends no lookups of files`() {
    let lines = (1...4_100).map { "  case-\($0):3 ok\n" }.joined()
    #expect(found(lines + "a.c:4:2: no\n") == ["a.c:4:2: error: no"])
  }

  @Test func `the name of a file may be indented as its errors are`() {
    #expect(found("  a.c\n    3:5  error  no\n") == ["a.c:3:5: error: no"])
  }

  @Test func `a comment that speaks of a failed test is none`() {
    #expect(found("# a - not ok 1 - b\n  ---\n  location: 'a.c:3:5'\n") == [])
    #expect(found("not ok 1 - b\n  ---\n  location: 'a.c:3:5'\n") == ["a.c:3:5: error: b"])
  }

  @Test func `a log is read after one that is wrong, and not within one that is cut`() {
    let log =
      #"{"$schema":"sarif","runs":[{"results":[{"level":"error","message":{"text":"no"},"#
      + #""locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"#
      + #""region":{"startLine":3,"startColumn":5}}}]}]}]}"#
    #expect(found(#"{"$schema":"sarif","runs":x}"# + "\n\(log)\n") == ["a.c:3:5: error: no"])
    #expect(found(#"{"$schema":"sarif","runs":["# + "\n\(log)\n") == [])
  }

  @Test func `the first 2,000 lines and the last 8,000 are searched`() {
    let lines = (1...20_000).map { "a.c:\($0):1: error: no\n" }
    let rest = { String(repeating: "x\n", count: $0) }
    #expect(
      found(lines[0] + rest(1_998) + lines[1] + lines[2] + rest(9_999) + lines[3] + rest(7_999))
        == [1, 2, 4].map { "a.c:\($0):1: error: no" })
    // One that fits is whole, and no form goes on beyond what is left out.
    #expect(found(rest(2_000) + lines[0] + rest(7_999)) == ["a.c:1:1: error: no"])
    #expect(
      found(rest(1_999) + "error: no\n" + rest(1) + "  --> a.c:1:1\n" + rest(7_999)) == [
        "error: no"
      ])
  }

  @Test func `at most 1,000 diagnostics are kept`() {
    let lines = (1...3_000).map { "a.c:\($0):1: error: no\n" }.joined()
    #expect(found(lines).count == 1_000)
  }

  /// The bound is generous: that of the benchmark is not.
  @Test(arguments: [
    "a.c:1:", "x:1 ", "    at f (x:1)\n", "error: x\n", "  File \"x\", line 1\n", "E   x\n",
    "\u{1B}[", "  a.c:3:in f\n",
    "a.c:3: in f\n", "--> a.c:3:5\n", "  3:5  error  no\n", "x.go:3: y\n", ": *** ", "SC1 ^\n",
    "panicked at a.c:3:5\n", "location: 'a.c:3:5'\n", "panic: x\n",
    "[ERROR] a.c:[3,5] no\n", "e: a.c:3:5 no\n", "CMake Error at a.c:3 (f):\n", "** (E) x\n",
    "  1) x\n a.c:3\n", "# a.c:3\n", "Failure/Error:\n# a.c:3\n", "X#y [a.c:3]:\n",
    "Error:\nX#y:\n  a.c:3:in f\n", "a.c:3:in f': x\n", "warning: x\n  a.c:3\n", " └─ a.c:3\n",
    "gone\u{0}.c:3:5: error: no\n", "PHP Parse error: x in a.c on line 3\n", "Warning: in on line ",
    "Warning: in a.c:3\n", "File \"a.c\", line 1, characters 9223372036854775807:\nError: x\n",
    "File \"a.c\", line 3, characters 1-2:\n", "a.c(3, 5) Error: no\n",
    "a.c(3)\n",
    "Error: unhandled exception: x\n", "a.py:3:0: C0114: no\n", "✘ [ERROR] x\n\n  a.c:3:5:\n",
    "error during build:\n", "a.c:3:5 ━━\n", "a.c:3: Failure\n", "a.c:3: FAILED:\n", " ❯ a.c:3:5\n",
    "{\"$schema\":\"sarif\"x\n", "{\"$schema\":\"sarif\",\"a\":[\n",
    " FAIL x\n ❯ x:3\n\n", "1) A::x\n\n/a.php:3\n\n", "Failed x\nError Message:\n",
  ])
  func `hostile output takes bounded work`(piece: String) {
    let size = Effort.count(1_000_000, quick: 10_000)
    let text = String(repeating: piece, count: size / piece.utf8.count)
    let before = processorTimeOfThread()
    _ = found(text)
    #expect(processorTimeOfThread() - before < .seconds(Effort.count(20, quick: 2)))
  }

  @Test func `random bytes are survived`() {
    var generator = SeededGenerator(seed: 39)
    let alphabet = Array(":(\"'\n\r\u{1B}[ a.c37-^E>*|/\u{9B}ä".utf8)
    for _ in 0..<Effort.count(2_000, quick: 400) {
      let bytes = (0..<200).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = DiagnosticReader.diagnostics(in: bytes, of: directory.path)
    }
  }
}
