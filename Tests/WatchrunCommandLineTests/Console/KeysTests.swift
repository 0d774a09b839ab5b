import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct KeysTests {
  @Test(
    arguments: [
      ("r", [.run]), ("\r", [.run]), ("\n", [.run]), (" ", [.run]), ("s", [.stop]),
      ("p", [.pause]), ("c", [.clear]), ("e", [.explain]), ("h", [.help]), ("?", [.help]),
      ("q", [.quit]), ("f", [.runFailed]), ("0", [.output(0)]), ("9", [.output(9)]),
      ("onN", [.openError, .nextError, .previousError]), ("rsq", [.run, .stop, .quit]), ("x", []),
      ("R", []), ("", []), ("pxp", [.pause, .pause]), ("\u{1B}[A", []), ("\u{1B}q", []),
      ("a pasted request", []),
    ] as [(String, [Key])])
  func `bytes are keys`(typed: String, keys: [Key]) {
    var input = KeyInput()
    #expect(input.keys(in: Array(typed.utf8)) == keys)
  }

  @Test(
    arguments: [
      (
        ["t", " a", "b\r"],
        [.typed(""), .typed(""), .typed("a"), .typed("ab"), .giveTerminal("ab")]
      ),
      (["t\r"], [.typed(""), .giveTerminal("")]),
      (["ts\n"], [.typed(""), .typed("s"), .giveTerminal("s")]),
      (["tq", "\u{1B}[A", "q"], [.typed(""), .typed("q"), .giveTerminal(nil), .quit]),
      (["tx\u{8}", "\u{7F}q"], [.typed(""), .typed("x"), .typed(""), .giveTerminal(nil), .quit]),
      (["tx", "\u{15}"], [.typed(""), .typed("x"), .giveTerminal(nil)]),
    ] as [([String], [Key])])
  func `a name of a task follows t, up to the key Enter`(typed: [String], keys: [Key]) {
    var input = KeyInput()
    #expect(typed.flatMap { input.keys(in: Array($0.utf8)) } == keys)
  }

  @Test func `a name may be pasted, and a character is removed as a whole`() {
    var input = KeyInput()
    #expect(
      input.keys(in: Array("t  server:dev \rq".utf8)).suffix(2) == [
        .giveTerminal("server:dev"), .quit,
      ])
    #expect(input.keys(in: Array("tä\u{7F}b\r".utf8)).last == .giveTerminal("b"))
  }

  @Test func `a name that is not complete can be ended`() {
    var input = KeyInput()
    #expect(input.end() == nil)
    _ = input.keys(in: Array("tb".utf8))
    #expect(input.end() == .giveTerminal(nil))
    #expect(input.keys(in: Array("q".utf8)) == [.quit])
  }

  @Test func `the listing names each key`() {
    let listing = Key.listing(isAlone: false)
    #expect(listing.first == "r, Enter, Space  run now")
    #expect(listing.count == Key.listing(isAlone: true).count + 1)
    let keys = listing.map { $0.utf8.first.flatMap(Key.init) }
    #expect(Set(keys).count == listing.count && !keys.contains(nil))
  }
}
