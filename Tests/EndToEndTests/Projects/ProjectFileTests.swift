import Foundation
import SystemCalls
import Testing

/// The questions about a project that run nothing.
struct ProjectFileTests {
  private func said(
    _ arguments: [String], status: Int32 = 0, in project: Project
  ) async throws -> (output: [String], errors: [String]) {
    let watchrun = try await project.start(arguments)
    try await #expect(watchrun.ended() == .exited(status))
    return (watchrun.process.output.lines, watchrun.errors)
  }

  /// A user's shell may be one that runs nothing, or that reads lines in another way than `sh`.
  @Test(arguments: ["/bin/false", "/no/such/shell"])
  func `shell lines of a project are run by sh, whatever the user's shell is`(shell: String)
    async throws
  {
    try await withProject { project in
      try project.writeTasks(
        #"build: { run: "echo build >> $LOG", onSuccess: "echo hook >> $LOG" }"#)
      let watchrun = try await project.start(["--once"], environment: ["SHELL": shell])
      try await #expect(watchrun.ended() == .exited(0))
      #expect(project.logged == ["build", "hook"])
      let line = try await project.start(
        ["--once", "echo line >> $LOG"], environment: ["SHELL": shell])
      try await #expect(line.ended() == .exited(0))
      #expect(project.logged.last == "line")
      #expect(line.errors.count { $0.contains("$SHELL is '\(shell)'") } == 1)
    }
  }

  @Test func `the tasks of a file are listed`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        """
        // A comment.
        { tasks: { build: { run: "make" }, test: { run: ["make", "test"], after: ["build"], } } }
        """)
      let all = try await said(["--list-tasks"], in: project)
      #expect(
        all.output == ["build  make       on changes in .", "test   make test  after build"])
      #expect(all.errors.isEmpty)
      let some = try await said(["--list-tasks", "-t", "build"], in: project)
      #expect(some.output == ["build  make  on changes in ."])
    }
  }

  @Test func `the tasks of a detected project are listed and written as a file`() async throws {
    try await withProject { project in
      try project.write("Makefile", "app: app.c\n\tcc -o app app.c\ntest: app\n\t./app\n")
      let list = ["build  make       on changes in .", "test   make test  after build"]
      let detected = try await said(["--list-tasks"], in: project)
      #expect(detected.output == list)
      let written = try await said(["--init"], in: project)
      #expect(
        written.errors == ["watchrun: wrote watchrun.json: this is a Makefile: build, then test"])
      let checked = try await said(["--check"], in: project)
      #expect(checked.output == ["watchrun.json: 2 tasks, no problems"])
      let listed = try await said(["--list-tasks"], in: project)
      #expect(listed.output == list)
    }
  }

  @Test func `an existing file is never overwritten`() async throws {
    try await withProject { project in
      for name in ["watchrun.json", "other.json"] {
        try project.write(name, "mine")
        let written = try await said(["--init", "--config", name], status: 64, in: project)
        #expect(
          written.errors == [
            "watchrun: \(name) exists already and is left unchanged; "
              + "to write a new one, remove it first"
          ])
        #expect(project.read(name) == "mine")
      }
      try project.makeLink("link.json", to: "nowhere")
      let written = try await said(["--init", "--config", "link.json"], status: 64, in: project)
      #expect(
        written.errors == [
          "watchrun: link.json is a link to a file that does not exist, and is left unchanged; "
            + "to write a new one, remove it first"
        ])
    }
  }

  @Test func `all errors are reported with their positions`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json", "{\n  tasks: {\n    a: { run: 1 },\n    b: { rnu: 'x' },\n  },\n}\n")
      for arguments in [["--check"], [], ["--list-tasks"], ["-t", "a"]] {
        let checked = try await said(arguments, status: 64, in: project)
        #expect(checked.output.isEmpty)
        #expect(
          checked.errors.map { $0.prefix { $0 != "'" } } == [
            "watchrun: watchrun.json:3:15: ", "watchrun: watchrun.json:4:10: the task ",
          ])
      }
    }
  }

  @Test func `the schema is JSON`() async throws {
    try await withProject { project in
      let schema = try await said(["--schema"], in: project)
      let text = schema.output.joined(separator: "\n")
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      #expect(
        object?["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    }
  }

  @Test func `without a project, one line says what to type`() async throws {
    try await withProject { project in
      for arguments in [[], ["--list-tasks"]] {
        let watchrun = try await said(arguments, status: 64, in: project)
        #expect(watchrun.errors.count == 1)
        #expect(watchrun.errors.first?.contains("--init") == true)
      }
      let missing = try await said(["--config", "none.json"], status: 64, in: project)
      #expect(
        missing.errors == [
          "watchrun: there is no file none.json; to write one: watchrun --init --config none.json"
        ])
      try project.makeDirectory("directory")
      let odd = try await said(["--config", "directory"], status: 64, in: project)
      #expect(odd.errors == ["watchrun: directory is not a regular file"])
      let unchecked = try await said(["--check"], status: 64, in: project)
      #expect(
        unchecked.errors == [
          "watchrun: there is no file watchrun.json to check; to write one: watchrun --init"
        ])
    }
  }

  @Test func `with a command, the file is not read`() async throws {
    try await withProject { project in
      try project.write("watchrun.json", "broken")
      let watchrun = try await said(["--once", "-q", "echo", "output"], in: project)
      #expect(watchrun.output == ["output"])
      #expect(watchrun.errors.isEmpty)
    }
  }

  @Test func `watchrun.json5 and watchrun.jsonc are read, but not two files at once`() async throws
  {
    try await withProject { project in
      for name in ["watchrun.jsonc", "watchrun.json5"] {
        try project.write(name, "// \(name)\n{ tasks: { a: { run: 'x', } } }")
        let checked = try await said(["--check"], in: project)
        #expect(checked.output == ["\(name): 1 task, no problems"])
        if name == "watchrun.jsonc" { try project.remove(name) }
      }
      try project.write("watchrun.json", "{}")
      for arguments in [["--check"], [], ["--list-tasks"]] {
        let refused = try await said(arguments, status: 64, in: project)
        #expect(
          refused.errors == [
            "watchrun: there is more than one project file: watchrun.json and watchrun.json5; "
              + "remove all but one, or choose one with --config"
          ])
      }
      let chosen = try await said(["--check", "--config", "watchrun.json5"], in: project)
      #expect(chosen.output == ["watchrun.json5: 1 task, no problems"])
    }
  }

  @Test func `paths that do not exist are warnings`() async throws {
    try await withProject { project in
      try project.write(
        "watchrun.json",
        "{ tasks: { a: { run: 'x', directory: 'nosuch' },\nb: { run: 'x', watch: ['.', 'none', '*.c'] },\np: { serve: '.', fallback: 'no.html' } } }"
      )
      let checked = try await said(["--check"], in: project)
      #expect(checked.output == ["watchrun.json: 3 tasks, no errors, 4 warnings"])
      #expect(
        checked.errors == [
          "watchrun: watchrun.json:1:38: warning: 'directory': no such path: nosuch",
          "watchrun: watchrun.json:2:29: warning: 'watch': no such path: none",
          "watchrun: watchrun.json:2:37: warning: 'watch': no such path: *.c; "
            + "patterns belong in 'filter'",
          "watchrun: watchrun.json:3:28: warning: 'fallback': no such path: ./no.html",
        ])
    }
  }
}
