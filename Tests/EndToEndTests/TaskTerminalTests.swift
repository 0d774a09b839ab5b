import Foundation
import SystemCalls
import Testing

/// Tasks whose output is read write to pseudo-terminals.
struct TaskTerminalTests {
  @Test func `a task has a terminal of the width that its name leaves`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"""
        wëb: {
          run: 'trap "stty size <&1 >> \"$LOG\"" WINCH; stty size <&1; while :; do sleep 0.1; done',
          service: true },
        b: { run: '[ -t 1 ] || echo "no terminal"', pty: false },
        """#)
      let session = try await project.startOnTerminal()
      // "wëb | " is in front, which is a byte longer than it is wide.
      try await session.shows("24 74")
      try await session.shows("no terminal")
      session.terminal.resize(rows: 30, columns: 100)
      try await project.logged("30 94")
      session.send(SIGTERM)
      try await session.ended()
    }
  }

  @Test func `progress is shown in one line, and the cursor is not moved`() async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "sh progress" }, b: { run: "true", after: ["a"] },"#)
      try project.write(
        "progress",
        #"""
        printf '1%%\r'; until test -e first; do sleep 0.1; done
        printf '\033[31m20%%\033[0m\r'; until test -e second; do sleep 0.1; done
        printf '\033[2J\033[5A\033[?25l100%%\n'
        printf '\033[32mdone\n'
        """#)
      let session = try await TerminalSession(project, ["--once", "-q"])
      try await session.shows(" 1%")
      try project.place("first")
      try await session.shows("20%")
      try project.place("second")
      try await session.ended()
      let text = session.terminal.output.text
      // The first colour is that of the name.
      let lines = text.components(separatedBy: "\r\n").map { line in
        line.components(separatedBy: "\r").map { String($0.drop { $0 != "|" }) }
      }
      #expect(
        lines.prefix(2) == [
          ["| 1%", "| \u{1B}[31m20%\u{1B}[0m", "| 100%"],
          ["| \u{1B}[32mdone\u{1B}[0m"],
        ])
    }
  }

  @Test func `a command can have a terminal although its output goes to a pipe`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        "--pty", "--once", "sh", "-c", "[ -t 1 ] && stty size <&1; printf '\\033[1mx\\033[m\\r\\n'")
      try await watchrun.ended()
      #expect(watchrun.process.output.text == "24 80\n\u{1B}[1mx\u{1B}[m\r\n")
    }
  }

  @Test func `all that an ended task has written to its terminal is shown`() async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "seq 20000" }, b: { run: "true" },"#)
      let session = try await TerminalSession(project, ["--once"])
      try await session.ended()
      let lines = session.terminal.output.text.components(separatedBy: "\r\n").filter {
        $0.contains("| ")
      }
      #expect(lines.count == 20_000 && lines.last?.hasSuffix("20000") == true)
    }
  }
}
