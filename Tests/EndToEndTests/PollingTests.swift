import SystemCalls
import Testing

/// `--poll`, and file systems that send no events.
@Suite struct PollingTests {
  /// A poll can miss a change within one tick of the clock.
  @Test func `a poll detects a change of equal size with its mtime set back`() async throws {
    try await withProject { project in
      try project.write("f", "one\n")
      try await project.shell("touch -d @1000000000 f")
      let watchrun = try await project.startPrinting("--poll=50ms")
      try await project.shell("printf 'two\\n' > f; touch -d @1000000000 f")
      try await project.reported("f", by: watchrun)
    }
  }

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

  @Test func `a poll reports renames, removals and new files`() async throws {
    try await withProject { project in
      try project.makeDirectory("a/b")
      try project.write("a/b/f")
      let watchrun = try await project.startPrinting("--poll=50ms")
      try project.move("a", to: "c")
      try project.write("c/b/f", "more\n", appending: true)
      try await project.reported("c", by: watchrun)
      try project.remove("c/b")
      try project.write("c/g")
      try await project.reported("c/g", by: watchrun)
      let changes = try project.changes(by: watchrun)
      #expect(changes.contains { $0.path == "c/b" && $0.kind == "removed" })
    }
  }

  /// The target of a symbolic link changes.
  @Test(arguments: [["-L"], ["-L", "--poll=50ms"]])
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
