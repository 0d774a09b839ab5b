import SystemCalls
import Testing

@testable import WatchrunCommandLine

/// The commands that open editors.
struct EditorTests {
  private static func command(_ setting: String, column: Int? = 5) -> [String]? {
    Editor(setting: setting, path: "/p/a b.c", line: 3, column: column)?.arguments
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("code", ["code", "-g", "/p/a b.c:3:5"]),
    ("code --wait", ["code", "--wait", "-g", "/p/a b.c:3:5"]),
    ("/opt/bin/cursor", ["/opt/bin/cursor", "-g", "/p/a b.c:3:5"]),
    ("codium", ["codium", "-g", "/p/a b.c:3:5"]),
    ("code-insiders", ["code-insiders", "-g", "/p/a b.c:3:5"]),
    ("windsurf", ["windsurf", "-g", "/p/a b.c:3:5"]),
    ("/usr/bin/subl", ["/usr/bin/subl", "/p/a b.c:3:5"]),
    ("sublime_text", ["sublime_text", "/p/a b.c:3:5"]),
    ("zed", ["zed", "/p/a b.c:3:5"]),
    ("hx", ["hx", "/p/a b.c:3:5"]),
    ("vim", ["vim", "+call cursor(3,5)", "/p/a b.c"]),
    ("gvim -f", ["gvim", "-f", "+call cursor(3,5)", "/p/a b.c"]),
    ("nvim", ["nvim", "+call cursor(3,5)", "/p/a b.c"]),
    ("mvim", ["mvim", "+call cursor(3,5)", "/p/a b.c"]),
    ("vi", ["vi", "+3", "/p/a b.c"]), ("emacs -nw", ["emacs", "-nw", "+3:5", "/p/a b.c"]),
    ("emacsclient -n", ["emacsclient", "-n", "+3:5", "/p/a b.c"]),
    ("nano", ["nano", "+3,5", "/p/a b.c"]),
    ("kak", ["kak", "+3:5", "/p/a b.c"]), ("micro", ["micro", "+3:5", "/p/a b.c"]),
    ("gedit", ["gedit", "+3:5", "/p/a b.c"]),
    ("idea", ["idea", "--line", "3", "--column", "5", "/p/a b.c"]),
    ("pycharm.sh", ["pycharm.sh", "--line", "3", "--column", "5", "/p/a b.c"]),
    ("kate", ["kate", "--line", "3", "--column", "5", "/p/a b.c"]),
    ("my-editor", ["my-editor", "/p/a b.c"]),
    ("my -l {line} {file}", ["my", "-l", "3", "/p/a b.c"]),
    ("my '{file}:{line}:{column}' x", ["my", "/p/a b.c:3:5", "x"]),
    ("code --goto={file}", ["code", "--goto=/p/a b.c"]),
    ("env A=1 code", ["env", "A=1", "code", "/p/a b.c"]),
  ])
  func `each editor receives the location in its own syntax`(setting: String, arguments: [String]) {
    #expect(Self.command(setting) == arguments)
  }

  @Test(arguments: [
    ("code", ["code", "-g", "/p/a b.c:3"]), ("vim", ["vim", "+3", "/p/a b.c"]),
    ("nano", ["nano", "+3", "/p/a b.c"]),
    ("idea", ["idea", "--line", "3", "/p/a b.c"]),
    ("x {line}:{column}:{other}", ["x", "3:1:{other}"]), ("emacs", ["emacs", "+3", "/p/a b.c"]),
  ])
  func `without a column, only the line is passed`(setting: String, arguments: [String]) {
    #expect(Self.command(setting, column: nil) == arguments)
  }

  @Test(arguments: ["", "  ", "'code", "code \"x", "code \\", "''"])
  func `an invalid setting has no command`(setting: String) {
    #expect(Self.command(setting) == nil)
  }

  @Test(arguments: [
    ("vim", true), ("vi", true), ("/usr/bin/nvim", true), ("nano", true), ("hx", true),
    ("kak", true), ("micro", true),
    ("emacs -nw", true), ("emacsclient -t", true), ("vim -g", false), ("emacs", false),
    ("gvim", false), ("code", false),
    ("my-editor", false), ("subl", false), ("vim {file}", true),
  ])
  func `terminal editors are recognized`(setting: String, needsTerminal: Bool) {
    #expect(
      Editor(setting: setting, path: "/a", line: 1, column: nil)?.needsTerminal == needsTerminal)
  }

  @Test func `unusual paths stay one argument, byte for byte`() {
    let path = Path(bytes: Array("/p/{line} $(x)'\"".utf8) + [0xFF])
    #expect(
      Editor(setting: "x {file}", path: path, line: 3, column: nil)?.arguments.last == path.bytes)
    #expect(
      Editor(setting: "code", path: path, line: -3, column: -1)?.arguments.last == path.bytes
        + ":1:1".utf8)
  }
}
