import Foundation
import SystemCalls
import Testing

/// The last row of the terminal, and the keys that are about tasks.
struct StatusLineTests {
  private static let save = "\u{1B}7"
  private static let erase = "\u{1B}[J"

  @Test func `the states of the tasks stand below all that is written, until the end`() async throws
  {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo out" }, b: { run: "exit 3", after: ["a"] },"#)
      let session = try await project.startOnTerminal()
      try await session.shows("waiting for changes")
      try await session.shows("h: keys")
      try session.type("q")
      try await session.ended()
      let text = session.terminal.output.text
      #expect(text.contains("a \u{1B}[32m✓ ") && text.contains("b \u{1B}[31m✗ "))
      #expect(text.contains("✗ b · watchrun"))
      // Nothing is drawn after it was erased the last time.
      let rest = text.components(separatedBy: Self.erase).last ?? ""
      #expect(!rest.contains(Self.save) && rest.contains("\u{1B}[23;2t"))
      #expect(try session.terminal.modes == session.modes)
    }
  }

  @Test func `the output of a single task is above it as well`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done" },"#)
      let session = try await project.startOnTerminal()
      try await session.shows("waiting for changes")
      try session.type("q")
      try await session.ended()
      // Where the cursor is back at the row, that is erased before anything is written.
      let parts = session.terminal.output.text.components(separatedBy: "\u{1B}8").dropFirst()
      #expect(parts.count > 2 && parts.allSatisfy { $0.hasPrefix(Self.erase) })
    }
  }

  @Test func `it is drawn again while a run goes on in a pause`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "until [ -e ../outside/end ]; do sleep 0.1; done" }, b: { run: "true" },"#)
      let session = try await project.startOnTerminal()
      try await session.shows("h: keys")
      try await session.readsKeys()
      try session.type("p")
      try await session.shows("paused")
      let before = session.terminal.output.text.components(separatedBy: Self.erase).count
      try await eventually("it is drawn twice") {
        session.terminal.output.text.components(separatedBy: Self.erase).count > before + 1
      }
      try project.place("source")
      try await session.shows("paused, 1 change")
      try project.place(project.outside + "/end")
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `in the background it is not shown, nor is the title set`() async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo out; exit 3" }, b: { run: "true" },"#)
      let bash = try await Shell(project)
      try bash.start()
      let watchrun = try await bash.watchrun()
      try await bash.shows("h: keys")
      try await bash.shows("waiting for changes")
      for round in 1...2 {
        try bash.terminal.type(Keystroke.controlZ)
        try await bash.hasPrompt()
        try await bash.terminal.drain()
        let before = bash.terminal.output.text.utf8.count
        try bash.command("bg")
        try await eventually("it goes on") { ProcessTable.state(of: watchrun) != "T" }
        try project.place("source-\(round)")
        try await bash.shows("waiting for changes", times: round + 1)
        try await bash.terminal.drain()
        let rest = String(
          decoding: bash.terminal.output.text.utf8.dropFirst(before), as: UTF8.self)
        #expect(!rest.contains(Self.save) && !rest.contains("\u{1B}]2"))
        let drawn = bash.terminal.output.text.occurrences(of: Self.save)
        try bash.command("fg")
        try await bash.shows(Self.save, times: drawn + 1)
      }
      try bash.terminal.type("q")
      try await bash.hasPrompt()
    }
  }

  @Test func `in the background it is not shown without a terminal as standard input either`()
    async throws
  {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo out" }, b: { run: "true" },"#)
      let bash = try await Shell(project)
      try bash.command("watchrun </dev/null &")
      try await bash.shows("waiting for changes")
      try project.place("source")
      try await bash.shows("waiting for changes", times: 2)
      try await bash.terminal.drain()
      #expect(!bash.terminal.output.text.contains(Self.save))
      try bash.command("fg")
      try await eventually("the shell gives it the terminal") { !bash.isAtPrompt }
      try project.place("source")
      try await bash.shows(Self.save)
    }
  }

  @Test(arguments: [[], ["--no-keys"]])
  func `it is erased although watchrun is killed`(_ options: [String]) async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo out" }, b: { run: "true", after: ["a"] },"#)
      let session = try await TerminalSession(project, options)
      try await session.shows(options.isEmpty ? "h: keys" : "✓ watchrun")
      if options.isEmpty { try await session.readsKeys() }
      session.send(SIGKILL)
      try await session.ended()
      // The shell may say that it was killed.
      try await eventually("it is erased") {
        let rest = session.terminal.output.text.components(separatedBy: Self.erase).last ?? ""
        return rest.hasPrefix("\u{1B}[23;2t") && !rest.contains(Self.save)
      }
    }
  }

  @Test(arguments: [["-q"], ["--once"], ["--status-line=never"]])
  func `it is not shown where it is not wanted`(_ options: [String]) async throws {
    try await withProject { project in
      try project.writeTasks(#"a: { run: "echo out" }, b: { run: "true", after: ["a"] },"#)
      let session = try await TerminalSession(project, options)
      try await session.shows("out")
      if options == ["--once"] {
        try await session.ended()
      } else {
        try await eventually("keys are read") { try session.terminal.modes != session.modes }
        try session.type("q")
        try await session.ended()
      }
      #expect(!session.terminal.output.text.contains(Self.save))
    }
  }

  @Test func `a task that runs watchrun shows none of its own, and no title`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"a: { run: "\#(Watchrun.program) --no-keys --config inner.json --exit-on-error" },"#)
      try project.write(
        "inner.json", #"{ tasks: { b: { run: "echo in" }, c: { run: "sleep 1; exit 3" } } }"#)
      let session = try await TerminalSession(project, ["-q"])
      try await session.shows("failed with status 3")
      session.send(SIGTERM)
      try await session.ended()
      let text = session.terminal.output.text
      #expect(text.contains("in\r\n") && !text.contains(Self.save) && !text.contains("\u{1B}]2"))
    }
  }

  @Test func `a key of the project file hides it, and shows it again`() async throws {
    try await withProject { project in
      let tasks = #"tasks: { a: { run: "echo out" }, b: { run: "true", after: ["a"] } }"#
      try project.write("watchrun.json", "{ statusLine: 'never', \(tasks) }")
      let session = try await project.startOnTerminal()
      try await session.shows("waiting for changes")
      #expect(!session.terminal.output.text.contains(Self.save))
      try project.write("watchrun.json", "{ \(tasks) }")
      try await session.shows("h: keys")
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `it is shown for a command on request, and the command has a terminal`() async throws {
    try await withProject { project in
      let session = try await TerminalSession(
        project, ["--status-line", "--", "sh", "-c", "[ -t 1 ] && echo terminal; exit 2"])
      try await session.shows("terminal")
      try await session.shows("sh \u{1B}[31m✗ ")
      try session.type("q")
      try await session.ended()
    }
  }

  @Test func `keys show the last output again, and run what has failed`() async throws {
    try await withProject { project in
      try project.writeTasks(
        #"""
        a: { run: "echo from a; echo a >> runs; echo a >> \"$LOG\"", watch: ["none"] },
        b: { run: "echo from b; echo b >> \"$LOG\"; exit 3", watch: ["none"] },
        """#)
      let session = try await project.startOnTerminal()
      try await session.shows("waiting for changes")
      try session.type("1")
      try await session.shows("from a", times: 2)
      try session.type("2")
      try await session.shows("failed with status 3 after ", times: 2)
      try await session.shows("from b", times: 2)
      try session.type("f")
      try await eventually("b runs again") { project.logged.count { $0 == "b" } == 2 }
      #expect(project.logged.count { $0 == "a" } == 1)
      try session.type("5")
      try await session.shows("there is no task 5")
      try session.type("c")
      // It is in the first row then.
      try await session.shows("\u{1B}[2J\(Self.save)")
      try session.type("q")
      try await session.ended()
    }
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGKILL])
  func `the editor in the terminal ends with watchrun`(_ signal: Int32) async throws {
    try await withProject { project in
      try project.write("main.c", "int x\n")
      try await project.shell("mkdir bin")
      try project.write("bin/vim", "#!/bin/sh\nstty -echo; echo $$ >> \"$LOG\"; read line\n")
      try await project.shell("chmod +x bin/vim")
      try project.writeTasks(
        #"a: { run: "echo main.c:1:3: error: one; exit 1" }, b: { run: "true", watch: ["none"] },"#)
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let session = try await TerminalSession(
        project, [], environment: ["EDITOR": "vim", "PATH": "\(project.root)/bin:\(path)"])
      try await session.shows("waiting for changes")
      try await session.readsKeys()
      try session.type("o")
      let editor = try await value("it runs") { project.logged.first.flatMap { pid_t($0) } }
      session.send(signal)
      try await session.ended()
      try await eventually("it is gone") { !ProcessTable.isAlive(editor) }
      try await eventually("the modes are restored") { try session.terminal.modes == session.modes }
    }
  }

  @Test func `keys show the errors, and open one in an editor in the terminal`() async throws {
    try await withProject { project in
      try project.write("main.c", "int x\nint y\n")
      try await project.shell("mkdir bin")
      try project.write(
        "bin/vim", "#!/bin/sh\necho \"editing $*\"; read line; echo \"$line\" >> \"$LOG\"\n")
      try await project.shell("chmod +x bin/vim")
      try project.writeTasks(
        #"""
        a: { run: "echo main.c:1:3: error: one; echo main.c:2:4: error: two; exit 1", watch: ["none"] },
        b: { run: "sleep 1000", service: true, watch: ["none"] },
        """#)
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let session = try await TerminalSession(
        project, [], environment: ["EDITOR": "vim", "PATH": "\(project.root)/bin:\(path)"])
      try await session.shows("1 after")
      try await session.readsKeys()
      try session.type("nn")
      try await session.shows("error 2 of 2: main.c:2:4 two")
      try session.type("o")
      try await session.shows("editing +call cursor(2,4) \(project.root)/main.c")
      try session.type("saved\r")
      try await project.logged("saved")
      try await session.readsKeys()
      try session.type("q")
      try await session.ended()
    }
  }
}
