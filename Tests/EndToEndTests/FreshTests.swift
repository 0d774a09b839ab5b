import SystemCalls
import Testing

/// Tasks that are as after their last success, and do not run at the start.
struct FreshTests {
  private static let project = """
    { tasks: {
      build: { run: 'echo build >> $LOG; mkdir -p dist; cat src/a > dist/a', watch: ['src'], writes: ['/dist'] },
      test: { run: 'echo test >> $LOG; cp dist/a report', watch: ['tests'], after: ['build'],
        writes: ['/report'] },
    } }
    """

  private func withSources(_ body: (Project) async throws -> Void) async throws {
    try await withProject { project in
      try project.makeDirectory("src")
      try project.makeDirectory("tests")
      try project.write("src/a")
      try project.write("tests/a")
      try project.write("watchrun.json", Self.project)
      try await body(project)
    }
  }

  /// The tasks that run in one round.
  private func runs(_ project: Project, _ options: String...) async throws -> [String] {
    let before = project.logged.count
    let watchrun = try await project.start(["--once"] + options)
    try await #expect(watchrun.ended() == .exited(0))
    return Array(project.logged[before...])
  }

  @Test func `a second round runs nothing, unless something has changed`() async throws {
    try await withSources { project in
      let all = ["build", "test"]
      try await #expect(runs(project) == all)
      try await #expect(runs(project) == [])
      try await #expect(runs(project, "--fresh", "no") == all)
      try await #expect(runs(project) == [])
      // Inputs: another time, content, or name.
      try await project.shell("touch src/a")
      try await #expect(runs(project) == all)
      try await project.shell("cp -p src/a old; mv old src/a")
      try await #expect(runs(project) == all)
      try await project.shell("echo x > tests/b")
      try await #expect(runs(project) == ["test"])
      try project.remove("tests/b")
      try await #expect(runs(project) == ["test"])
      try await project.shell("mkdir src/d")
      try await #expect(runs(project) == all)
      // Outputs.
      try project.remove("dist")
      try await #expect(runs(project) == all)
      try await project.shell("cp -p dist/a old; mv old dist/a")
      try await #expect(runs(project) == all)
      try project.write("report", "other")
      try await #expect(runs(project) == ["test"])
      try project.write("dist/b", "other")
      try await #expect(runs(project) == all)
      // What is not watched.
      try project.write("other")
      try await #expect(runs(project) == [])
    }
  }

  @Test func `another command or environment is another task`() async throws {
    try await withSources { project in
      _ = try await runs(project)
      func change(_ old: String, _ new: String) throws {
        try project.write(
          "watchrun.json",
          project.read("watchrun.json").split(separator: old, omittingEmptySubsequences: false)
            .joined(separator: new))
      }
      try change("cat src/a", "cat  src/a")
      try await #expect(runs(project) == ["build", "test"])
      try change("after:", "env: { A: '1' }, after:")
      try await #expect(runs(project) == ["test"])
      try change("after:", "envFile: 'b.env', after:")
      try project.write("b.env", "B=1\n")
      try await #expect(runs(project) == ["test"])
      try await project.shell("touch b.env")
      try await #expect(runs(project) == [])
      try project.write("b.env", "B=2\n")
      try await #expect(runs(project) == ["test"])
      try change("after:", "fresh: false, after:")
      try await #expect(runs(project) == ["test"])
      try await #expect(runs(project) == ["test"])
    }
  }

  @Test func `a session says what is fresh, and runs it on a change`() async throws {
    try await withSources { project in
      let first = try await project.start("-v")
      try await first.watching()
      try await first.said("test ok")
      try await project.rests()
      // The files are examined once more some milliseconds after the end.
      try await project.recorded(2)
      await first.process.stop()
      let second = try await project.start("-v")
      try await second.said("build: fresh, not run")
      try await second.said("test: fresh, not run")
      try await second.said("build fresh · test fresh")
      try await second.watching()
      let status = try await project.start("--wait", "--json")
      try await #expect(status.ended() == .exited(0))
      #expect(
        status.process.output.text.contains(#""state":"succeeded","status":0,"startedAt":null"#))
      let text = try await project.start("--wait")
      try await #expect(text.ended() == .exited(0))
      #expect(text.process.output.text == "build: fresh, not run\ntest: fresh, not run\n")
      try project.place("src/b")
      try await project.logged("test", times: 2)
      try await project.rests()
      try await project.recorded(2)
      #expect(project.logged == ["build", "test", "build", "test"])
      second.process.send(SIGTERM)
      _ = try await second.ended()
      try await #expect(runs(project) == [])
    }
  }

  @Test func `a run that fails, is killed or is changed while it runs leaves nothing fresh`()
    async throws
  {
    try await withProject { project in
      try project.write("in")
      try project.write(
        "watchrun.json",
        """
        { tasks: { a: { run: 'cat in > out; echo a >> $LOG; test ! -e ../outside/wait || sleep 1000; \
        test ! -e ../outside/edit || echo x >> in; test ! -e ../outside/fail', \
        watch: ['in'], writes: ['out'] } } }
        """)
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
      // The outputs and inputs stay as they are, as far as times show.
      try project.write("\(project.outside)/fail")
      try await #expect(project.start("--once", "--fresh", "no").ended() == .exited(1))
      try project.remove("\(project.outside)/fail")
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
      try project.write("\(project.outside)/wait")
      let killed = try await project.start("--fresh", "no")
      try await project.logged("a", times: 4)
      kill(killed.process.pid, SIGKILL)
      _ = try await killed.ended()
      try project.remove("\(project.outside)/wait")
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
      try project.write("\(project.outside)/edit")
      try await #expect(runs(project, "--fresh", "no") == ["a"])
      try project.remove("\(project.outside)/edit")
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
    }
  }

  @Test func `a failure counts also if its task may be fresh only before or afterwards`()
    async throws
  {
    try await withProject { project in
      try project.write("in")
      func write(_ keys: String) throws {
        try project.write(
          "watchrun.json",
          """
          { tasks: { a: { run: 'cat in > out; echo a >> $LOG; test ! -e ../outside/fail', \
          watch: ['in'], \(keys) } } }
          """)
      }
      try write("writes: ['out']")
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
      try write("writes: ['out'], fresh: false")
      try project.write("\(project.outside)/fail")
      try await #expect(project.start("--once").ended() == .exited(1))
      try project.remove("\(project.outside)/fail")
      try write("writes: ['out']")
      try await #expect(runs(project) == ["a"])
      try await #expect(runs(project) == [])
      try write("env: { A: '1' }")
      let session = try await project.start("-v")
      try await session.watching()
      try await project.logged("a", times: 4)
      try project.write("\(project.outside)/fail")
      try write("writes: ['out']")
      try await project.logged("a", times: 5)
      try await session.said("failed")
      await session.process.stop()
      try project.remove("\(project.outside)/fail")
      try await #expect(runs(project) == ["a"])
    }
  }

  @Test func `a dependency whose dependent did not run afterwards is not enough`() async throws {
    try await withSources { project in
      _ = try await runs(project)
      try project.write("src/a", "2")
      try await #expect(runs(project, "-t", "build") == ["build"])
      try await #expect(runs(project, "-t", "build") == [])
      try await #expect(runs(project) == ["test"])
    }
  }

  @Test func `a task without outputs runs, and so do one with a hook and a service's dependents`()
    async throws
  {
    try await withProject { project in
      try project.write("in")
      try project.write(
        "watchrun.json",
        """
        { tasks: {
          none: { run: 'echo none >> $LOG', watch: ['in'], writes: ['out'] },
          hook: { run: 'echo hook >> $LOG; touch o2', watch: ['in'], writes: ['o2'], onSuccess: ':' },
        } }
        """)
      for _ in 0..<3 { try await #expect(Set(runs(project)) == ["none", "hook"]) }
    }
  }
}

extension Project {
  /// Waits until so many tasks are recorded.
  fileprivate func recorded(_ count: Int) async throws {
    let directory = Path(outside).absolute(from: "/").parent?.appending("cache/watchrun") ?? "/"
    try await eventually("\(count) tasks are recorded") {
      let names = (try? directoryNames(of: directory)) ?? []
      let texts = try names.map { try fileContents(of: directory.appending($0.bytes)) ?? [] }
      return texts.joined().count { $0 == UInt8(ascii: "\n") } == count + 1
    }
  }
}
