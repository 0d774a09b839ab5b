import SystemCalls
import Testing

@testable import PathFiltering

struct GitConfigurationTests {
  /// The settings in a text, as `name=value`, or `name` for a key without a value.
  private func entries(_ text: String) -> [String] {
    GitConfigurationSyntax.entries(in: Array(text.utf8)).map { entry in
      let value = entry.value.map { "=" + String(decoding: $0, as: UTF8.self) }
      return entry.name + (value ?? "")
    }
  }

  @Test(
    arguments: [
      ("[core]\n\tkey = value\n", ["core.key=value"]),
      ("[CORE]\nKeY=Value", ["core.key=Value"]),
      ("[core] key = value", ["core.key=value"]),
      ("[core]\nkey", ["core.key"]),
      ("[core]\nkey =\n", ["core.key="]),
      ("[core]\r\nkey = value\r\n", ["core.key=value"]),
      ("\u{FEFF}[core]\nkey = a", ["core.key=a"]),
      ("# c\n; c\n[core] # c\nkey = a # c\nother = b;c\n", ["core.key=a", "core.other=b"]),
      ("[core]\nkey = a  b \t \n", ["core.key=a  b"]),
      ("[core]\nkey = \" a # b \" ; c\n", ["core.key= a # b "]),
      ("[core]\nkey = a\" \"b\n", ["core.key=a b"]),
      ("[core]\nkey = a\\\n  b\nnext = c\n", ["core.key=a  b", "core.next=c"]),
      ("[core]\r\nkey = a\\\r\n  b\r\n", ["core.key=a  b"]),
      ("[core]\nkey # c\n = b\n[core]key=\"a]\"# c", ["core.key", "core.key=a]"]),
      ("[core]\nkey = \\\"a\\\\\\t\\n\n", ["core.key=\"a\\\t\n"]),
      ("[remote \"O \\\"x\\\\\"]\nurl = u\n", ["remote o \"x\\.url=u"]),
      ("[a.B]\nk = v\n[core]\nk = w\n", ["a.b.k=v", "core.k=w"]),
      ("[core]\na = 1\n[x \"y]\"]\nc = 3\n", ["core.a=1", "x y].c=3"]),
      // git refuses these.
      ("[core]\nb = \"x\nc = 3\n", ["core.b=x", "core.c=3"]),
      ("[core]\n= 1\n\\\nc = 3\n", ["core.c=3"]),
      ("", []), ("[", []), ("[core", []), ("[core \"", []), ("[core \"\\", []), ("\\", []),
    ])
  func `the syntax is git's`(text: String, expected: [String]) {
    #expect(entries(text) == expected)
  }

  private func configuration(
    _ text: String, _ environment: [String: String] = ["HOME": "/h"]
  ) -> GitConfiguration {
    let unread = environment.merging(
      ["GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"]) { own, _ in own }
    var configuration = GitConfiguration(environment: unread) { _ in }
    configuration.apply(Array(text.utf8))
    return configuration
  }

  @Test(
    arguments: [
      ("excludesfile = ~/x", "/h/x"), ("excludesFile = x/y", "x/y"), ("excludesfile = /x", "/x"),
      ("excludesfile = :(optional)~/x", "/h/x"), ("excludesfile =", nil),
      ("excludesfile = a\nexcludesfile = b", "b"), ("other = x", "/h/.config/git/ignore"),
    ] as [(String, String?)])
  func
    `core.excludesFile may be absolute, or relative to the home directory or the repository's root`(
      setting: String, path: String?
    )
  {
    #expect(configuration("[core]\n\(setting)\n").excludesFile?.string == path)
  }

  @Test func `the default of core.excludesFile depends on the environment`() {
    #expect(configuration("", ["XDG_CONFIG_HOME": "/c"]).excludesFile == "/c/git/ignore")
    #expect(
      configuration("", ["XDG_CONFIG_HOME": "", "HOME": "/h"]).excludesFile
        == "/h/.config/git/ignore")
    #expect(configuration("", [:]).excludesFile == nil)
  }

  @Test(
    arguments: [
      ("ignorecase", true), ("ignorecase = true", true), ("ignorecase = YES", true),
      ("ignorecase = on", true), ("ignorecase = 1", true), ("ignorecase = false", false),
      ("ignorecase = 0", false), ("ignorecase =", false), ("ignorecase = off", false),
    ])
  func `core.ignoreCase accepts all of git's booleans`(setting: String, isOn: Bool) {
    #expect(configuration("[core]\n\(setting)\n").ignoresCase == isOn)
    #expect(!configuration("[core \"sub\"]\n\(setting)\n").ignoresCase)
  }

  @Test func `the user's files are read from the weakest to the strongest, and can be replaced`()
    throws
  {
    let tree = try TemporaryTree()
    func excludesFile(_ variables: [String: String] = [:]) -> String? {
      let environment = tree.environment.merging(variables) { $1 }
      return GitConfiguration(environment: environment) { _ in }.excludesFile?.string
    }
    let system = try #require(tree.path("system").string)
    let global = try #require(tree.path("global").string)
    try tree.write("system", "[core]\nexcludesfile = system\n")
    try tree.write("global", "[core]\nexcludesfile = global\n")
    let readsSystem = ["GIT_CONFIG_SYSTEM": system, "GIT_CONFIG_NOSYSTEM": "0"]
    #expect(excludesFile(readsSystem) == "system")
    #expect(excludesFile(["GIT_CONFIG_SYSTEM": system]) == "\(tree.home)/.config/git/ignore")
    try tree.writeAtHome(".config/git/config", "[core]\nexcludesfile = xdg\n")
    #expect(excludesFile(readsSystem) == "xdg")
    try tree.writeAtHome(".gitconfig", "[core]\nexcludesfile = home\n")
    #expect(excludesFile(readsSystem) == "home")
    #expect(excludesFile(["GIT_CONFIG_GLOBAL": global]) == "global")
  }
}
