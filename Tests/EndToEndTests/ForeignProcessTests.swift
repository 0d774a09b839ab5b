import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

/// Commands that run as another user, as with `sudo`. watchrun runs as one without privileges here.
@Suite(.enabled(if: geteuid() == 0 && Tool.succeeds("setpriv", "--version")))
struct ForeignProcessTests {
  private static let user = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]

  /// Starts watchrun with a command that becomes a process of root and logs its ID.
  private func start(_ project: Project, _ options: String...) async throws -> Watchrun {
    let sudo = project.outside + "/sudo"
    try await project.shell("cp $(command -v setpriv) '\(sudo)'; chmod 4755 '\(sudo)'")
    for path in [project.root, project.outside] { try File.setMode(0o777, of: Path(path)) }
    try project.write(project.log, "")
    try File.setMode(0o666, of: Path(project.log))
    return try await project.start(
      ["-v"] + options + [
        "--", sudo, "--reuid", "0", "--clear-groups", "sh", "-c",
        "echo $$ >> $LOG; exec sleep 1000",
      ], prefix: Self.user)
  }

  private func process(_ project: Project, _ number: Int) async throws -> pid_t {
    try await value("run \(number)") {
      project.logged.count >= number ? pid_t(project.logged[number - 1]) : nil
    }
  }

  @Test func `no run starts beside a process of another user, and the next one waits for its end`()
    async throws
  {
    try await withProject { project in
      let watchrun = try await start(project, "-r")
      try await watchrun.watching()
      let first = try await process(project, 1)
      for number in 1...3 {
        try project.place("file-\(number)")
        try await watchrun.said("created file-\(number)")
        try await watchrun.said("cannot stop ")
      }
      #expect(
        watchrun.errors.contains(
          "watchrun: cannot stop the command: sleep (process \(first)) belongs to root; the next "
            + "run waits until it has ended; to have it stopped: sudo watchrun …"),
        "\(watchrun.errors)")
      #expect(!watchrun.errors.contains { $0.contains("SIGKILL") })
      #expect(project.logged.count == 1)
      kill(first, SIGTERM)
      let second = try await process(project, 2)
      #expect(ProcessTable.isAlive(second))
      #expect(project.logged.count == 2)
    }
  }

  @Test func `what is left at the end is named`() async throws {
    try await withProject { project in
      let watchrun = try await start(project, "-r")
      try await watchrun.watching()
      let pid = try await process(project, 1)
      watchrun.process.send(SIGINT)
      try await eventually("watchrun ends") { watchrun.process.exitStatus == .signaled(.interrupt) }
      try await watchrun.said("it keeps running; to end it: sudo kill \(pid)")
      #expect(ProcessTable.isAlive(pid))
    }
  }

  @Test func `--timeout ends watchrun though the command cannot be stopped`() async throws {
    try await withProject { project in
      let watchrun = try await start(project, "--once", "--timeout", "2s")
      let pid = try await process(project, 1)
      try await eventually("watchrun ends") { watchrun.process.exitStatus != nil }
      try await watchrun.said("sudo kill \(pid)")
    }
  }
}
