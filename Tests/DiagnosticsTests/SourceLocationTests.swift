import SystemCalls
import TestSupport
import Testing

@testable import Diagnostics

/// The source locations in a line of output.
struct SourceLocationTests {
  private static let files: Set<String> = [
    "a.c", "src/a.c", "/p/a.js", "/p/my file.c", "my file.c", "app/(group)/page.tsx", "Makefile",
    "a:1/b.c",
    "./spec/a.rb", "12", "/p/ä.c", "../x.h", "[id].tsx", "a.py",
  ]

  private static func find(_ text: String) -> [String] {
    SourceLocation.find(in: Array(text.utf8)) { files.contains($0) ? Path($0) : nil }.map { place in
      let shown = String(decoding: Array(text.utf8)[place.range], as: UTF8.self)
      let column = place.column.map { ":\($0)" } ?? ""
      return "\(place.path.string ?? "?"):\(place.line)\(column) \(shown)"
    }
  }

  @Test(arguments: [
    ("src/a.c:3:5: error: x", ["src/a.c:3:5 src/a.c:3:5"]), ("a.c:3: error", ["a.c:3 a.c:3"]),
    ("a.c:3", ["a.c:3 a.c:3"]),
    ("  --> src/a.c:12:7", ["src/a.c:12:7 src/a.c:12:7"]),
    ("--> /p/my file.c:2:1", ["/p/my file.c:2:1 /p/my file.c:2:1"]),
    ("/p/my file.c:2:1: x", ["/p/my file.c:2:1 /p/my file.c:2:1"]),
    ("    at f (/p/a.js:3:4)", ["/p/a.js:3:4 /p/a.js:3:4"]),
    ("at /p/a.js:3:4", ["/p/a.js:3:4 /p/a.js:3:4"]),
    ("f@/p/a.js:3:4", ["/p/a.js:3:4 /p/a.js:3:4"]),
    ("at file:///p/a.js:3:4", ["/p/a.js:3:4 /p/a.js:3:4"]),
    ("src/a.c(12,5): error TS1", ["src/a.c:12:5 src/a.c(12,5)"]),
    ("src/a.c(12): error", ["src/a.c:12 src/a.c(12)"]),
    ("src/a.c(12, 5): x", ["src/a.c:12:5 src/a.c(12, 5)"]),
    ("  File \"a.py\", line 7, in f", ["a.py:7 a.py\", line 7"]),
    ("  File \"my file.c\", line 7", ["my file.c:7 my file.c\", line 7"]),
    ("app/(group)/page.tsx:3:1", ["app/(group)/page.tsx:3:1 app/(group)/page.tsx:3:1"]),
    ("a:1/b.c:3", ["a:1/b.c:3 a:1/b.c:3"]),
    ("rspec './spec/a.rb:5'", ["./spec/a.rb:5 ./spec/a.rb:5"]),
    ("Makefile:3: *** missing", ["Makefile:3 Makefile:3"]),
    ("error:src/a.c:3", ["src/a.c:3 src/a.c:3"]),
    ("In file included from a.c:1,", ["a.c:1 a.c:1"]),
    ("a.c:1:2 src/a.c:3:4", ["a.c:1:2 a.c:1:2", "src/a.c:3:4 src/a.c:3:4"]),
    ("a.c:1:a.c:2", ["a.c:1 a.c:1", "a.c:2 a.c:2"]), ("/p/ä.c:1:2", ["/p/ä.c:1:2 /p/ä.c:1:2"]),
    ("../x.h:9:0", ["../x.h:9 ../x.h:9:0"]), ("[id].tsx:1", ["[id].tsx:1 [id].tsx:1"]),
    ("a.c:10-12", ["a.c:10 a.c:10"]),
    ("a.c:3:5x", ["a.c:3 a.c:3"]), ("a.c:3.", ["a.c:3 a.c:3"]),
    ("b.c:3:5", []), ("a.c:0", []), ("a.c", []), ("a.c:", []), ("a.c:x", []), ("12:30:45", []),
    ("12:3", []), ("a.c:3/x", []),
    ("a.c:12345678", []), (":3", []), ("a.c :3", []), ("http://localhost:8080/", []), ("a.c(3", []),
    ("a.c(x,1)", []),
    ("a.c(0)", []), ("\", line 3", []), ("a.c:3x", []), ("", []),
  ])
  func `a source location is found if its file exists`(text: String, places: [String]) {
    #expect(Self.find(text) == places)
  }

  @Test(arguments: [
    "a.c:1:", "a.c(1,", "(", ":1", "x:1 ", "/a:1", "\"a\", line 1 ", "((((x:1 ", "a",
  ])
  func `long lines take bounded work`(piece: String) {
    let text = Array(String(repeating: piece, count: 200_000 / piece.utf8.count).utf8)
    var lookups = 0
    let duration = processorTime {
      _ = SourceLocation.find(in: text) { name in
        lookups += 1
        #expect(name.utf8.count <= 1_024)
        return nil
      }
    }
    #expect(lookups <= 40)
    #expect(duration < .seconds(1))
  }

  @Test func `names that are not UTF-8 or contain a NUL are not resolved`() {
    #expect(SourceLocation.find(in: [0xFF] + "a.c:1".utf8) { Path($0) }.isEmpty)
    let cut = SourceLocation.find(in: Array("a\0.c:1".utf8)) { Path($0) }
    #expect(cut.map(\.range) == [2..<6])
  }
}
