import SystemCalls
import TestSupport
import Testing

/// `--poll`, and file systems that send no events.
@Suite struct PollingTests {
  @Test func `--poll runs the command for each change`() async throws {
    try await withProject { project in
      try project.write("f", "one\n")
      _ = try await project.startRunning(["--poll=50ms"], #"echo "run $(cat f)" >> "$LOG""#)
      try await project.logged("run one")
      for text in ["two", "six", "ten"] {
        try project.place("f", text + "\n")
        try await project.logged("run \(text)")
      }
    }
  }

  /// The target of a symbolic link changes.
  @Test(arguments: Effort.rows([["-L", "--poll=50ms"], ["-L"]], quick: 1))
  func `-L follows symbolic links`(options: [String]) async throws {
    try await withProject { project in
      try await project.shell(
        #"mkdir "$OUTSIDE/lib" d; echo x > "$OUTSIDE/lib/f"; echo x > "$OUTSIDE/t""#)
      try await project.shell(
        #"ln -s "$OUTSIDE/lib" d/lib; ln -s "$OUTSIDE/t" d/ln; ln -s .. d/up"#)
      let watchrun = try await project.startPrinting(options[0], options.last ?? "-L")
      try await project.shell(#"echo y >> "$OUTSIDE/lib/f""#)
      try await project.reported("d/lib/f", by: watchrun)
      try await project.shell(#"echo y >> "$OUTSIDE/t""#)
      try await project.reported("d/ln", by: watchrun)
      try project.write("last")
      try await project.reported("last", by: watchrun)
      let changes = try project.changes(by: watchrun)
      #expect(changes.allSatisfy { !$0.path.contains("up/") })
    }
  }
}
