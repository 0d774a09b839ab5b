import SystemCalls

/// The failure of a shell line.
package struct ShellFailure: Error, CustomStringConvertible {
  package let description: String
}

/// Runs a line with `sh` in a directory, and waits for its end. An error contains its output.
package func shell(_ line: String, in directory: Path) async throws {
  let output = try TemporaryDirectory()
  let request = SpawnRequest(
    arguments: ["/bin/sh", "-c", "exec > \"$OUTPUT\" 2>&1; " + line].map { Array($0.utf8) },
    environment: [
      "PATH=" + (environmentVariable("PATH") ?? "/usr/bin:/bin"), "LC_ALL=C.UTF-8",
      "HOME=\(output.path)", "OUTPUT=\(output["output"])", "GIT_CONFIG_NOSYSTEM=1",
      "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
      "GIT_COMMITTER_EMAIL=a@b",
    ].map { Array($0.utf8) }, directory: directory, standardInput: .null)
  let pid = try request.spawn()
  var status: Int32 = 0
  let hasEnded = try await eventually(within: .seconds(120)) {
    try checked("waitpid") { waitpid(pid, &status, WNOHANG) } == pid
  }
  if !hasEnded {
    kill(-pid, SIGKILL)
    _ = retryingOnInterrupt { waitpid(pid, &status, 0) }
  }
  if !hasEnded || status != 0 {
    throw ShellFailure(
      description:
        "'\(line)' ended with wait status \(status): \((try? output.read("output")) ?? "")")
  }
}

/// Whether a program of this name is installed.
package func isInstalled(_ program: String) -> Bool {
  let directories = (environmentVariable("PATH") ?? "/usr/bin:/bin").split(separator: ":")
  return directories.contains { directory in
    Path(String(directory)).appending(program).withCString { access($0, X_OK) } == 0
  }
}
