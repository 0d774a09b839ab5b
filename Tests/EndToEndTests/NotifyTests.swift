import TestSupport
import Testing

/// `--notify` and `--bell`: signals at the end of a run.
@Suite struct NotifyTests {
  /// Fails as long as a file of that name is there.
  private static let command = "test ! -e bad"
  private static let start = "\u{1B}]777;notify;"
  private static let failed = start + "test ! -e bad failed;with status 1 after "
  private static let succeeded = start + "test ! -e bad succeeded;in "

  private func session(
    _ project: Project, _ arguments: String..., variables: [String: String] = [:]
  ) async throws -> TerminalSession {
    try await TerminalSession(
      project, arguments + [Self.command],
      environment: variables.merging(["TERM_PROGRAM": "WezTerm", "TMUX": ""]) { given, _ in given })
  }

  private func count(_ text: String, in session: TerminalSession) -> Int {
    var (count, rest) = (0, session.terminal.output.text[...])
    while let found = rest.firstRange(of: text) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }

  /// Makes a change, and waits for the end of its run.
  private func change(
    _ project: Project, _ session: TerminalSession, bad: Bool, _ runs: Int
  ) async throws {
    if bad { try project.place("bad", "\(runs)") } else { try project.remove("bad") }
    try await eventually("run \(runs) ends") {
      count("watchrun: succeeded", in: session) + count("watchrun: failed", in: session) >= runs
    }
  }

  @Test func `a terminal is notified of failures and of the first success after them`() async throws
  {
    try await withProject { project in
      let session = try await session(project, "-N")
      try await session.shows("succeeded in")
      try await change(project, session, bad: true, 2)
      try await eventually("it is notified") { count(Self.failed, in: session) == 1 }
      try await change(project, session, bad: true, 3)
      try await eventually("it is notified again") { count(Self.failed, in: session) == 2 }
      try await change(project, session, bad: false, 4)
      try await eventually("it is notified of the success") {
        count(Self.succeeded, in: session) == 1
      }
      try project.place("other")
      try await eventually("the run ends") { count("watchrun: succeeded in ", in: session) == 3 }
      try session.type("q")
      try await #expect(session.ended() == 0)
      #expect(count(Self.succeeded, in: session) == 1 && count("\u{7}", in: session) == 0)
    }
  }

  @Test func `a run that is the only one is notified of before the end`() async throws {
    try await withProject { project in
      try project.write("bad")
      let session = try await session(project, "--notify=always", "--once", "-q")
      try await #expect(session.ended() == 1)
      try await eventually("it is notified") { count(Self.failed, in: session) == 1 }
    }
  }

  @Test func `the bell rings by itself`() async throws {
    try await withProject { project in
      try project.write("bad")
      let session = try await session(project, "--bell", "--once")
      try await #expect(session.ended() == 1)
      try await eventually("it rings") { count("\u{7}", in: session) == 1 }
      #expect(count(Self.start, in: session) == 0)
    }
  }

  @Test func `nothing is written to a pipe, and a program is used instead`() async throws {
    try await withProject { project in
      let program = project.outside + "/notify-send"
      try project.write(
        program, "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(project.outside)/said'\nexec sleep 1000\n")
      try await project.shell("chmod 755 '\(program)'")
      let watchrun = try await project.start(
        ["-p", "-N=always", "--bell", "--", "sh", "-c", "echo run >> \"$LOG\"; exit 3"],
        environment: [
          "PATH": project.outside + ":/usr/bin:/bin", "DISPLAY": ":9", "TERM_PROGRAM": "WezTerm",
        ])
      try await eventually("it runs") {
        try project.write("file")
        return !project.logged.isEmpty
      }
      try await eventually("the program is started") {
        project.read(project.outside + "/said").contains("with status 3 after ")
      }
      // The program has not ended, and runs go on.
      let count = project.logged.count
      try project.write("file", "more")
      try await eventually("it runs again") { project.logged.count > count }
      try await watchrun.said("failed with status 3")
      #expect(!watchrun.process.errors.text.contains("\u{1B}"))
      #expect(!watchrun.process.errors.text.contains("\u{7}"))
      #expect(watchrun.process.output.bytes.isEmpty)
    }
  }

  @Test func `without a way to notify, a message says so once and the bell rings`() async throws {
    try await withProject { project in
      try project.write("bad")
      let session = try await session(
        project, "-N", "--once", variables: ["TERM_PROGRAM": "", "TERM": "xterm"])
      try await #expect(session.ended() == 1)
      try await session.shows("no desktop notifications: this terminal is not known to show them")
      try await eventually("it rings") { count("\u{7}", in: session) == 1 }
    }
  }

  @Test func `a project file asks for notifications of rounds`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        """
        { notify: "always",
          tasks: { build: { run: "true" }, test: { run: "false", after: "build" } } }
        """)
      let session = try await TerminalSession(
        project, ["--once"], environment: ["TERM_PROGRAM": "WezTerm", "TMUX": ""])
      try await #expect(session.ended() == 1)
      try await eventually("it is notified") {
        count(Self.start + "test failed;build ok ", in: session) == 1
      }
    }
  }
}
