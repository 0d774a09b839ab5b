import Testing

@testable import WatchrunCommandLine

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
    #expect(Key.keys(in: Array(typed.utf8)) == keys)
  }

  @Test func `the listing names each key`() {
    let listing = Key.listing(isAlone: false)
    #expect(listing.count == Key.listing(isAlone: true).count + 1)
    let keys = listing.map { $0.utf8.first.flatMap(Key.init) }
    #expect(Set(keys).count == listing.count && !keys.contains(nil))
  }
}
