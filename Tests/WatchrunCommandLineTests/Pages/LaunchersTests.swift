import LiveReload
import SystemCalls
import Testing

@testable import WatchrunCommandLine

struct LaunchersTests {
  @Test(
    arguments: [
      (nil, [openerOfURLs]), ("", [openerOfURLs]),
      ("firefox", ["firefox"]), ("firefox:chromium %s", ["firefox", "chromium %s"]),
    ] as [(String?, [String])])
  func `the browser is the user's, or the system's`(variable: String?, commands: [String]) {
    #expect(BrowserLauncher.commands(variable) == commands)
  }

  @Test(arguments: [
    ("firefox", ["firefox", "http://a/"]),
    ("x --new %s --end", ["x", "--new", "http://a/", "--end"]),
  ])
  func `the URL is an argument of its own`(command: String, words: [String]) {
    #expect(
      BrowserLauncher.arguments(command, "http://a/") == words.map { Array($0.utf8) })
  }

  @Test(
    arguments: [
      (nil, [:], nil), ("vim", ["EDITOR": "code"], "vim"), (nil, ["EDITOR": "vi"], "vi"),
      (nil, ["VISUAL": "vim", "EDITOR": "code -w"], "code -w"),
      (nil, ["WATCHRUN_EDITOR": "", "VISUAL": "zed", "EDITOR": "code"], "zed"),
      (nil, ["WATCHRUN_EDITOR": "emacs -nw", "EDITOR": "nano"], "emacs -nw"),
    ] as [(String?, [String: String], String?)])
  func `the editor is the first one that needs no terminal, unless one is named`(
    named: String?, variables: [String: String], editor: String?
  ) {
    #expect(EditorLauncher.editor(named) { variables[$0] } == editor)
  }

  @Test(
    arguments: [
      ([], false), (["localhost", "127.0.0.1", "127.1.2.3", "::1"], false), (["0.0.0.0"], true),
      (["localhost", "192.168.1.4"], true), (["::"], true), (["127.evil.test"], true),
      (["LOCALHOST", "a.localhost", "0:0::1"], false),
    ] as [([String], Bool)])
  func `a host other than loopback is reachable from outside`(hosts: [String], isReachable: Bool) {
    let page = Page(name: "a", source: .directory("/"), hosts: hosts)
    #expect(page.isReachableFromOutside == isReachable)
  }
}
