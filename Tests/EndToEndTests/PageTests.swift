import SystemCalls
import Testing

/// Pages: where they are announced, and what runs beside them. What they answer is not tested here.
@Suite struct PageTests {
  @Test func `a directory is served without a project and without a command`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.writeTasks("a: { run: 'echo a >> $LOG' },")
      let watchrun = try await project.start("-v", "--serve", "public")
      try await watchrun.said("watchrun: serving public at http://localhost:")
      try await watchrun.watching()
      try project.place("public/style.css")
      try await watchrun.said("watchrun: created public/style.css")
      #expect(project.logged.isEmpty)
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
    }
  }

  @Test func `a browser that fails is reported, also while a command runs`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      // A child that another queue reaps would be lost sometimes.
      for number in 1...10 {
        let watchrun = try await project.start(
          ["--serve", "public", "--open", "--", "sleep", "1000"],
          environment: ["BROWSER": "/bin/false"])
        let line = try await watchrun.said("cannot open a browser: ")
        #expect(line.contains("failed with status 1"), "browser \(number)")
        await watchrun.process.stop()
      }
    }
  }

  @Test func `what git ignores is served and watched all the same`() async throws {
    try await withProject { project in
      try await project.shell("git init -q . && echo '*.css' > .gitignore")
      try project.makeDirectory("public")
      let watchrun = try await project.start("-v", "--serve", "public")
      try await watchrun.watching()
      try project.place("public/style.css")
      try await watchrun.said("watchrun: created public/style.css")
    }
  }

  @Test func `a change of a served file does not start a command that watches others`()
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.makeDirectory("src")
      let watchrun = try await project.startRunning(
        ["--serve", "public", "-w", "src"], "sh", "-c", Project.record)
      try project.place("public/style.css")
      try await watchrun.said("watchrun: created public/style.css")
      try project.place("src/b")
      try await eventually("the change in src leads to a run") { project.recordedRuns.count == 1 }
      #expect(project.recordedRuns == [["src/b"]])
    }
  }

  @Test func `a filter is for the command, and not for the page`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let watchrun = try await project.startRunning(
        ["--serve", "public", "-e", "c"], "sh", "-c", Project.record)
      try project.place("public/style.css")
      try await watchrun.said("watchrun: created public/style.css")
      try project.place("a.c")
      try await eventually("the source leads to a run") { project.recordedRuns.count == 1 }
      #expect(project.recordedRuns == [["a.c"]])
    }
  }

  @Test func `with a page the output of the command is passed on by lines`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let watchrun = try await project.start(
        "--serve", "public", "--", "sh", "-c", "echo out; echo err >&2; printf end")
      try await watchrun.said("watchrun: succeeded in ")
      try await eventually("it is passed on") {
        watchrun.process.output.lines == ["out", "err", "end"]
      }
    }
  }

  @Test(.enabled(if: Tool.git && Tool.python), arguments: ["", "out/"])
  func `a directory that the command makes is served, also when it is made again`(
    ignored: String
  ) async throws {
    try await withProject { project in
      try await project.shell("git init -q . && echo '\(ignored)' > .gitignore")
      try project.makeDirectory("src")
      let watchrun = try await project.start(
        "-v", "--serve", "out", "-w", "src", "--", "sh", "-c",
        "mkdir -p out && echo a > out/index.html && echo run >> $LOG")
      try await watchrun.said("page: no such path: out; it is served and watched as soon as")
      let line = try await watchrun.said("serving out at http://localhost:")
      let port = line.split(separator: ":").last.map { $0.prefix(while: \.isNumber) } ?? ""
      let fetch = """
        python3 -c 'import urllib.request as r
        print(r.urlopen("http://localhost:\(port)/").read())'
        """
      try await project.logged("run")
      try await #expect(project.shell(fetch).contains("</script>a"))
      try project.place("out/style.css")
      try await watchrun.said("watchrun: created out/style.css")
      try project.remove("out")
      try await watchrun.said("watchrun: removed out")
      try project.place("src/a")
      try await project.logged("run", times: 2)
      try await #expect(project.shell(fetch).contains("</script>a"))
      try project.place("out/late.css")
      try await watchrun.said("watchrun: created out/late.css")
    }
  }

  @Test func `a missing directory is refused where no command makes it`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--serve", "none")
      try await #expect(watchrun.ended() == .exited(66))
      #expect(watchrun.errors.count == 1 && watchrun.errors[0].contains("cannot serve none"))
      #expect(project.logged.isEmpty)
    }
  }

  @Test func `what a page lacks is said at the start`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let watchrun = try await project.start(
        "--serve", "public", "--fallback", "app.html", "--host", "nope.invalid")
      try await watchrun.said("page: no such path: public/app.html; it is served and watched as")
      try await watchrun.said(
        "no address is known for nope.invalid, so other computers may not find")
    }
  }

  @Test func `a page that other machines reach is shown as a QR code at a terminal`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let border = "\u{1B}[38;5;231;48;5;16m" + String(repeating: "█", count: 33) + "\u{1B}[0m"
      let options = ["--serve", "public", "--host", "here.test"]
      let session = try await TerminalSession(project, options)
      try await session.shows(border, times: 4)
      for (other, text) in [
        (options + ["--quiet"], "other computers can reach public: http://here.test:"),
        (["--serve", "public"], "serving public at http://localhost:"),
      ] {
        let session = try await TerminalSession(project, other)
        try await session.shows(text)
        session.send(SIGINT)
        try await session.ended()
        #expect(!session.terminal.output.text.contains("█"))
      }
    }
  }

  @Test func `a browser that cannot be opened is no reason to end`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let watchrun = try await project.start(
        ["-v", "--serve", "public", "--open"], environment: ["BROWSER": "/no/such/browser"])
      try await watchrun.said("watchrun: cannot open a browser: /no/such/browser: ")
      try await watchrun.watching()
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  @Test func `the browser is opened with the page's address`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.place(project.outside + "/browser", "#!/bin/sh\necho \"open $1\" >> $LOG\n")
      try await project.shell("chmod +x $OUTSIDE/browser")
      _ = try await project.start(
        ["--serve", "public", "--open"], environment: ["BROWSER": project.outside + "/browser"])
      try await eventually("the browser is opened") { !project.logged.isEmpty }
      #expect(project.logged.first?.hasPrefix("open http://localhost:") == true)
    }
  }
}

/// Pages of a project.
@Suite struct ProjectPageTests {
  @Test func `pages alone are a project`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.writeTasks("site: { serve: 'public' },")
      let watchrun = try await project.startTasks()
      try await watchrun.said("watchrun: serving public at http://localhost:")
      #expect(watchrun.process.exitStatus == nil)
      watchrun.process.send(SIGINT)
      try await #expect(watchrun.ended() == .signaled(.interrupt))
    }
  }

  @Test func `pages come and go with the file`() async throws {
    try await withProject { project in
      for name in ["one", "two"] { try project.makeDirectory(name) }
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      let watchrun = try await project.startTasks()
      try await project.logged("a")
      #expect(!watchrun.errors.contains { $0.contains("serving") })
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG', watch: ['src'] }, p: { serve: 'one', after: ['a'] },")
      try await watchrun.said("watchrun: serving one at ")
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG', watch: ['src'] }, p: { serve: 'two', after: ['a'] },")
      try await watchrun.said("watchrun.json read again (changed: p)")
      try await watchrun.said("watchrun: serving two at ")
      try project.place("two/style.css")
      try await watchrun.said("watchrun: created two/style.css")
      try project.writeTasks("a: { run: 'echo a >> $LOG', watch: ['src'] },")
      try await watchrun.said("watchrun.json read again (removed: p)")
      #expect(project.logged == ["a"], "the task is as it was")
      let order = try await project.start("--send", "reload")
      try await #expect(order.ended() == .exited(64), "no page is left")
    }
  }

  @Test func `with --once nothing is served`() async throws {
    try await withProject { project in
      try project.writeTasks("a: { run: 'echo a >> $LOG' }, p: { serve: '.', after: ['a'] },")
      let watchrun = try await project.start("--once")
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["a"])
      #expect(!watchrun.errors.contains { $0.contains("serving") })
      try project.writeTasks("p: { serve: '.' },")
      let other = try await project.start("--once")
      try await #expect(other.ended() == .exited(64))
    }
  }

  @Test func `a directory that is still to be built is waited for`() async throws {
    try await withProject { project in
      try project.writeTasks(
        "a: { run: 'echo a >> $LOG', watch: ['src'] }, p: { serve: 'out', after: ['a'] },")
      let watchrun = try await project.startTasks()
      try await watchrun.said("p: no such path: out; it is served and watched as soon as it exists")
      try project.makeDirectory("out")
      try project.place("out/index.html")
      try await watchrun.said("watchrun: created out")
    }
  }
}
