import Testing

@testable import Support

struct ShellWordsTests {
  @Test(
    arguments: [
      ("a b", ["a", "b"]), (" a\t'b c'\nd ", ["a", "b c", "d"]), ("a\\ b", ["a b"]),
      ("\"a\\\"b\\c\"", ["a\"b\\c"]),
      ("'a\\'b", ["a\\b"]), ("a''b\"\"", ["ab"]), ("'' \"\"", ["", ""]),
      ("$(x) `y` ;z|", ["$(x)", "`y`", ";z|"]), ("", []),
      ("'a", nil), ("a\\", nil), ("\"a\\", nil),
    ] as [(String, [String]?)])
  func `words are split as by a shell, without its expansions`(text: String, words: [String]?) {
    #expect(ShellWords.split(text) == words)
  }

  @Test(
    arguments: [
      ("a&&b ;c|d", ["a", "&&", "b", ";", "c", "|", "d"]), ("a 2>&1&", ["a", "2>&1", "&"]),
      ("'a;b' c\\;d;;", ["a;b", "c;d", ";;"]), ("a; ;'';", ["a", ";", ";", "", ";"]),
    ])
  func `operators are words of their own, alone or doubled`(text: String, words: [String]) {
    #expect(ShellWords.split(text, operators: ";|()&") == words)
  }

  @Test(
    arguments: [
      (["make", "test"], "make test"), (["sh", "-c", "a; b 9"], "sh -c 'a; b 9'"),
      (["make test", "src"], "'make test' src"), ([""], "''"), (["it's"], "\"it's\""),
      (["it's $HOME"], #"'it'\''s $HOME'"#), (["{}", "{first}", "{a,b}"], "{} {first} '{a,b}'"),
      (["a\nb"], #"$'a\nb'"#), (["~", "é", "--x=1"], "'~' é --x=1"), (["\u{1B}"], #"$'\x1b'"#),
    ] as [([String], String)])
  func `words are quoted only where a shell needs it`(words: [String], line: String) {
    #expect(ShellWords.quoted(words.map { Array($0.utf8) }) == line)
  }

  @Test func `bytes that are not UTF-8 are quoted`() {
    #expect(ShellWords.quoted([0x61, 0xFF, 0x27]) == #"$'a\xff\''"#)
  }
}
