import Testing

@testable import WatchrunCommandLine

struct KeysTests {
  @Test(
    arguments: [
      ("r", [.run]), ("\r", [.run]), ("\n", [.run]), ("s", [.stop]), ("p", [.pause]),
      ("c", [.clear]), ("e", [.explain]), ("h", [.help]), ("?", [.help]), ("q", [.quit]),
      ("rsq", [.run, .stop, .quit]), ("x", []), ("R", []), ("", []), ("pxp", [.pause, .pause]),
      ("\u{1B}[A", []), ("\u{1B}q", []), ("a pasted request", []),
    ] as [(String, [Key])])
  func `bytes are keys`(typed: String, keys: [Key]) {
    #expect(Key.keys(in: Array(typed.utf8)) == keys)
  }

  @Test func `the listing names each key`() {
    #expect(Key.listing.count == Key.allCases.count)
    for (line, key) in zip(Key.listing, Key.allCases) {
      #expect(line.utf8.first.flatMap(Key.init) == key)
    }
  }
}
