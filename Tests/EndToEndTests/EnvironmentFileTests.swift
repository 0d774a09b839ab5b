import SystemCalls
import TestSupport
import Testing

/// `--env-file` and `envFile`: variables of files in dotenv syntax.
struct EnvironmentFileTests {
  /// The file is ignored by git, and the filter leaves it out.
  @Test(arguments: Effort.rows([["-r"], ["-r", "-p"], ["-o", "ignore"]], quick: 1))
  func `a command gets the variables, and starts again when one is different`(
    options: [String]
  ) async throws {
    try await withProject { project in
      try project.write(".env", "A='a b' # c\nHOME=/none\n")
      try project.write(".gitignore", ".env\n")
      let watchrun = try await project.start(
        options + [
          "-v", "-e", "c", "--env-file", ".env", "-E", "B=2",
          #"echo "$A $B $HOME" >> "$LOG"; exec sleep 1000"#,
        ])
      try await watchrun.watching()
      if options.contains("-p") {
        #expect(project.logged.isEmpty)
      } else {
        try await project.logged("a b 2 \(project.outside)")
      }
      try project.place(".env", "A=new\nB=1\n")
      try await watchrun.said(".env read again (for the command)")
      try await project.logged("new 2 \(project.outside)")
      try project.place(".env", "# a comment\nA=new\nB=1\n")
      try await watchrun.said(".env read again (no variable has changed)")
      try project.place(".env", "A='new\n")
      try await watchrun.said(".env:1: the quote of A is not closed")
      try await watchrun.said("the variables stay as they were until .env is correct")
      try project.remove(".env")
      try await watchrun.said("cannot read the variables of .env: there is no such file")
      try project.place("b.c")
      try project.place(".env", "A=last\n")
      try await project.logged("last 2 \(project.outside)")
      try await eventually("one process runs") { project.commandProcesses.count == 1 }
    }
  }

  @Test func `a change concerns the tasks that use the file, and those that watch it`() async throws
  {
    try await withProject { project in
      try project.write("all.env", "A=1\n")
      try project.write("web.env", "B=1\n")
      try project.write(
        "watchrun.json",
        """
        { envFile: 'all.env', tasks: {
          web: { run: 'echo web $A $B >> $LOG; exec sleep 1000', service: true, watch: ['src'],
            envFile: ['web.env'], env: { C: '' } },
          a: { run: 'echo a $A $B >> $LOG', watch: ['.'] },
        } }
        """)
      try project.makeDirectory("src")
      let watchrun = try await project.startTasks()
      try await project.logged("web 1 1")
      try await project.logged("a 1")
      try project.place("web.env", "B=2\n")
      try await watchrun.said("web.env read again (for web)")
      try await project.logged("web 1 2")
      try await project.logged("a 1", times: 2)
      try project.place("all.env", "A=2\n")
      try await watchrun.said("all.env read again (for web, a)")
      try await project.logged("web 2 2")
      try await project.logged("a 2")
      #expect(project.logged.count == 6, "\(project.logged)")
    }
  }

  @Test func `a change runs no manual task, and a postponed one when the pause has ended`()
    async throws
  {
    try await withProject { project in
      try project.write("a.env", "A=1\n")
      try project.writeTasks(
        """
        deploy: { run: 'echo deploy >> $LOG', envFile: 'a.env', manual: true },
        test: { run: 'echo test $A >> $LOG', envFile: 'a.env', watch: ['x'] },
        """)
      let watchrun = try await project.startTasks("-v", "-p")
      try await watchrun.watching()
      try await project.start("--send", "pause").ended()
      try project.place("a.env", "A=2\n")
      try await watchrun.said("a.env read again (for deploy, test)")
      try await project.rests()
      #expect(project.logged.isEmpty)
      try await project.start("--send", "resume").ended()
      try await project.logged("test 2")
      try await project.rests()
      #expect(project.logged == ["test 2"])
    }
  }

  @Test func `a missing file, and a line that is no variable, are errors of the check`()
    async throws
  {
    try await withProject { project in
      try project.write("watchrun.json", "{ tasks: { a: { run: 'x',\nenvFile: ['.env', 'b'] } } }")
      try project.write("b", "A=1\nB C\n")
      let check = try await project.start(["--check"])
      try await #expect(check.ended() == .exited(64))
      #expect(
        check.errors == [
          "watchrun: watchrun.json:2:11: cannot read the variables of .env: there is no such file; create it, or do not name it",
          "watchrun: watchrun.json:2:19: b:2: 'B C' is not a variable; write NAME=VALUE",
        ])
      let watchrun = try await project.start(["--env-file", "none", "true"])
      try await #expect(watchrun.ended() == .exited(64))
      #expect(
        watchrun.errors == [
          "watchrun: cannot read the variables of none: there is no such file; create it, or do not name it"
        ])
    }
  }

  @Test func `a Procfile reads its file, and --init writes the key`() async throws {
    try await withProject { project in
      try project.write("Procfile", "web: echo $A $PORT >> $LOG; exec sleep 1000\n")
      try project.write(".env", "A=1\nPORT=7000\n")
      let watchrun = try await project.start("-v")
      try await watchrun.watching()
      try await project.logged("1 7000")
      try project.place(".env", "A=2\nPORT=7000\n")
      try await project.logged("2 7000")
      await watchrun.process.stop()
      let write = try await project.start(["--init"])
      try await #expect(write.ended() == .exited(0))
      let written = try await project.start("-v")
      try await written.watching()
      try await project.logged("2 7000", times: 2)
    }
  }

  @Test(arguments: Effort.rows([[], ["--config", "Procfile"]], quick: 1))
  func `the processes of a changed Procfile, and their ports, are those of foreman`(
    options: [String]
  ) async throws {
    try await withProject { project in
      let line = #"echo $NAME $A $PORT >> $LOG; exec sleep 1000"#
      try project.write("Procfile", "web: NAME=web; \(line)\nwork: NAME=work; \(line)\n")
      let watchrun = try await project.start(options + ["-v"])
      try await watchrun.watching()
      try await project.logged("web 5000")
      try await project.logged("work 5100")
      try project.place(
        "Procfile", "web: NAME=web; \(line)\nnew: NAME=new; \(line)\nwork: NAME=work; \(line)\n")
      try await watchrun.said("Procfile read again (new: new; changed: work)")
      try await project.logged("new 5100")
      try await project.logged("work 5200")
      try project.place(".env", "A=1\nPORT=7000\n")
      for process in ["web 1 7000", "new 1 7100", "work 1 7200"] {
        try await project.logged(process)
      }
      try project.place(".env", "A=2\nPORT=7000\n")
      for process in ["web 2 7000", "new 2 7100", "work 2 7200"] {
        try await project.logged(process)
      }
      try project.place(".env", "A='2\n")
      try await watchrun.said("the tasks stay as they were until .env is correct")
      try project.place(".env", "A=3\nPORT=7000\n")
      try await project.logged("web 3 7000")
      #expect(watchrun.errors.count { $0.contains("quote of A is not closed") } == 1)
      try await eventually("all run") { project.logged.count == 13 }
    }
  }

  @Test func `a file that is named later is watched`() async throws {
    try await withProject { project in
      let task = "a: { run: 'echo $A >> $LOG; exec sleep 1000', service: true, watch: ['src']"
      try project.writeTasks("\(task) },")
      try project.makeDirectory("src")
      try project.write("a.env", "A=1\n")
      let watchrun = try await project.startTasks()
      try await project.logged("")
      try project.writeTasks("\(task), envFile: ['a.env'] },")
      try await watchrun.said("watchrun.json read again (changed: a)")
      try await project.logged("1")
      try project.place("a.env", "A=2\n")
      try await project.logged("2")
    }
  }
}
