import Testing

@testable import WatchrunSettings

@Suite struct ShownCommandTests {
  @Test(
    arguments: [
      (["make", "test"], "make test"), (["make test"], "make test"),
      (["make test", "src"], "'make test' src"),
      (["sh", "-c", "echo a; sleep 9"], "sh -c 'echo a; sleep 9'"),
      (["echo", "it's", ""], #"echo "it's" ''"#), (["clang", "{}", "é.c"], "clang {} é.c"),
      ([], ""),
    ] as [([String], String)])
  func `a command is shown so that it can be pasted`(_ words: [String], _ text: String) {
    #expect(words.map { Array($0.utf8) }.shownCommand == text)
  }
}
