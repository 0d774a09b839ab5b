import SystemCalls
import Testing

@testable import FileObservation

struct ScriptParserTests {
  @Test func `a script is parsed`() throws {
    let script = try ScriptParser.parse(
      """
      # Something holds.
      # A remark.
      exts swift txt
      root . sub
      shallow other
      events created metadata
      except vnode it has no names for these
      fails polling it is not quick enough
      mkdir -p sub/x
      watch

      write "a b" text   # what this is for
      settle
      mv "a b" c
      expect
        renamed c from "a b"
        ? modified|created sub directory
      expect[polling,vnode]
        created c
      sh echo "a  #b" > d
      expect
      follow
      """, file: "f.txt")
    #expect(script.claim == "Something holds.")
    #expect(script.settings.extensions == [bytes("swift"), bytes("txt")])
    #expect(script.settings.kinds == [.created, .metadata])
    #expect(script.settings.roots.map(\.isShallow) == [false, false, true])
    #expect(script.exceptions == ["vnode": "it has no names for these"])
    #expect(script.knownIssues == ["polling": "it is not quick enough"])
    #expect(
      script.preparation == [
        Operation(verb: .mkdir, arguments: [bytes("-p"), bytes("sub/x")], line: 9)
      ])
    let renamed = ExpectedChange(
      kinds: [.renamed], path: bytes("c"), type: .file, origin: bytes("a b"))
    let optional = ExpectedChange(
      kinds: [.modified, .created], path: bytes("sub"), type: .directory, isOptional: true)
    let created = ExpectedChange(kinds: [.created], path: bytes("c"), type: .file)
    let expectation = Script.Expectation(
      line: 15, changes: [renamed, optional],
      changesByBackend: ["polling": [created], "vnode": [created]])
    #expect(
      script.steps == [
        .perform(Operation(verb: .write, arguments: [bytes("a b"), bytes("text")], line: 12)),
        .settle,
        .perform(Operation(verb: .mv, arguments: [bytes("a b"), bytes("c")], line: 14)),
        .expect(expectation),
        .perform(Operation(verb: .sh, arguments: [bytes(#"echo "a  #b" > d"#)], line: 20)),
        .expect(Script.Expectation(line: 21)),
        .follow(line: 22),
      ])
    #expect(expectation.changes(for: "polling") == [created])
    #expect(expectation.changes(for: "inotify") == [renamed, optional])
  }

  @Test func `a removed entry has no type`() throws {
    let script = try ScriptParser.parse("# a\nwatch\nexpect\n  removed f", file: "f.txt")
    guard case .expect(let expectation)? = script.steps.last else {
      Issue.record("there is an expectation")
      return
    }
    #expect(expectation.changes.map(\.type) == [.unknown])
  }

  @Test(arguments: [
    ("", 1, "the first line is '# ' and a claim"),
    ("write f", 1, "the first line is '# ' and a claim"),
    ("# a\nwrite f", 2, "nothing is watched"),
    ("# a\nwatch\nwrite f", 3, "a script ends with what it expects"),
    ("# a\nwatch sub\nexpect", 2, "what to watch is said with 'root' before"),
    ("# a\nwatch\nfly f\nexpect", 3, "there is no operation 'fly'"),
    ("# a\nwatch\nmv f\nexpect", 3, "mv is written: mv OLD NEW"),
    ("# a\nwatch\nsettle now\nexpect", 3, "there is no operation 'settle'"),
    ("# a\nwatch\n  created f\nexpect", 3, "only what is expected is indented"),
    ("# a\nwatch\nexpect[polling]", 3, "what some backends do follows what all others do"),
    ("# a\nwatch\nexpect\n  eaten f", 4, "there is no kind 'eaten'"),
    ("# a\nwatch\nexpect\n  created f dir", 4, "there is no type 'dir'"),
    ("# a\nwatch\nexpect\n  created f from g", 4, "'from' belongs to 'renamed'"),
    ("# a\nwatch\nexpect\n  renamed f", 4, "'from' belongs to 'renamed'"),
    ("# a\nwatch\nexpect\n  renamed f from", 4, "'from' what?"),
    ("# a\nwatch\nexpect\n  created f file file", 4, "too many words"),
    (
      "# a\nwatch\nexpect\n  created", 4,
      "an expected change is written: [?] KIND[|KIND] PATH [TYPE] [from PATH]"
    ),
    ("# a\nevents eaten", 2, "there is no kind 'eaten'"),
    ("# a\nexcept vnode", 2, "except is written: except BACKEND REASON"),
    ("# a\nwrite \"f", 2, "a quote is not closed"),
    ("# a\nwrite f\\", 2, "nothing follows the backslash"),
    ("# a\nwrite \\x4", 2, "\\x wants two hexadecimal digits"),
    ("# a\nwrite \\q", 2, "there is no escape \\q"),
  ])
  func `an error names the file and the line`(text: String, line: Int, reason: String) {
    let error = #expect(throws: ScriptError.self) {
      try ScriptParser.parse(text, file: "f.txt")
    }
    #expect(error == ScriptError(file: "f.txt", line: line, reason: reason))
    #expect(error?.description == "f.txt:\(line): \(reason)")
  }

  @Test(
    arguments: [
      ("", []),
      ("  a \t b ", [bytes("a"), bytes("b")]),
      (#""a b"c"#, [bytes("a bc")]),
      ("\"\"", [[]]),
      (#"a\ b \n\x41\xff"#, [bytes("a b"), [0x0A, 0x41, 0xFF]]),
      ("\\#a b#c # d", [bytes("#a"), bytes("b#c")]),
      (#""\"\\""#, [bytes(#""\"#)]),
    ] as [(String, [[UInt8]])])
  func `a line is split into words`(line: String, words: [[UInt8]]) throws {
    #expect(try ScriptWords.split(line) == words)
  }

  @Test func `paths are relative to the directory`() {
    #expect(place(bytes("a/b"), in: "/d/e") == "/d/e/a/b")
    #expect(place(bytes("../a"), in: "/d/e") == "/d/a")
    #expect(place(bytes("."), in: "/d/e") == "/d/e")
  }
}

private func bytes(_ text: String) -> [UInt8] {
  Array(text.utf8)
}
