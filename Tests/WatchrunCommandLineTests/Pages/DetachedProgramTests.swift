import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

struct DetachedProgramTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func program(_ line: String) -> DetachedProgram {
    let words = ["sh", "-c", "cd '\(directory.path)' && { \(line); }"]
    return DetachedProgram(arguments: words.map { Array($0.utf8) })
  }

  @Test func `a program has neither our terminal nor our process group`() async throws {
    let line = """
      fds=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo "$fds" > fds; \
      ps -o pgid= $$ > group
      """
    try program(line + "; echo > done").start { _ in }
    #expect(await eventually { directory.exists("done") })
    #expect(directory.lines(of: "fds") == ["/dev/null", "/dev/null", "/dev/null"])
    let group = directory.lines(of: "group").first?.filter { $0 != " " }
    #expect(group != nil && group != String(getpgrp()))
  }

  @Test func `a program that fails is reported, and one that succeeds is not`() async throws {
    let reasons = Log<String>()
    try program("true").start { reasons.note($0) }
    try program("exit 3").start { reasons.note($0) }
    #expect(await eventually { reasons.entries == ["failed with status 3"] })
  }

  @Test func `a missing program is an error`() {
    let error = #expect(throws: SystemError.self) {
      try DetachedProgram(arguments: [Array("/no/such/program".utf8)]).start { _ in }
    }
    #expect(error?.code == ENOENT)
  }

  @Test func `the editor is started with the words for its command line`() async throws {
    let log = directory["log"]
    let console = Console(shown: .problem, isColored: false)
    let setting = "sh -c 'echo \"$@\" > \"\(log)\"' sh {file} {line} {column}"
    let editor = EditorLauncher(setting, console: console)
    #expect(editor.open("/p/a.c", line: 3, column: 5) == nil)
    #expect(await eventually { directory.lines(of: "log") == ["/p/a.c 3 5"] })
  }
}
