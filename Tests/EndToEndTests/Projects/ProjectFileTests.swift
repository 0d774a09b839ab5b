import Foundation
import SystemCalls
import Testing

/// What is said of projects without running them.
@Suite struct ProjectFileTests {
  private func said(
    _ arguments: [String], status: Int32 = 0, in project: Project
  ) async throws -> (output: [String], errors: [String]) {
    let watchrun = try await project.start(arguments)
    try await #expect(watchrun.ended() == .exited(status))
    return (watchrun.process.output.lines, watchrun.errors)
  }

  @Test func theTasksOfAFileAreListed() async throws {
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

  @Test func theTasksOfAFolderAreListedAndWrittenAsAFile() async throws {
    try await withProject { project in
      try project.write("Makefile", "app: app.c\n\tcc -o app app.c\ntest: app\n\t./app\n")
      let list = ["build  make       on changes in .", "test   make test  after build"]
      let recognized = try await said(["--list-tasks"], in: project)
      #expect(recognized.output == list)
      let written = try await said(["--init"], in: project)
      #expect(
        written.errors == ["watchrun: wrote watchrun.json: this is a Makefile: build, then test"])
      let checked = try await said(["--check"], in: project)
      #expect(checked.output == ["watchrun.json: 2 tasks, no problem"])
      let listed = try await said(["--list-tasks"], in: project)
      #expect(listed.output == list)
    }
  }

  @Test func aFileThatIsThereIsNeverOverwritten() async throws {
    try await withProject { project in
      for name in ["watchrun.json", "other.json"] {
        try project.write(name, "mine")
        let written = try await said(["--init", "--config", name], status: 64, in: project)
        #expect(
          written.errors == [
            "watchrun: \(name) is there already, and is left as it is; "
              + "remove it first to begin anew"
          ])
        #expect(project.read(name) == "mine")
      }
    }
  }

  @Test func allThatIsWrongIsToldOfWithItsPlace() async throws {
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

  @Test func theSchemaIsJSON() async throws {
    try await withProject { project in
      let schema = try await said(["--schema"], in: project)
      let text = schema.output.joined(separator: "\n")
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      #expect(
        object?["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    }
  }

  @Test func whereNothingIsKnownALineHelps() async throws {
    try await withProject { project in
      for arguments in [[], ["--list-tasks"]] {
        let watchrun = try await said(arguments, status: 64, in: project)
        #expect(watchrun.errors.count == 1)
        #expect(watchrun.errors.first?.contains("--init") == true)
      }
      let missing = try await said(["--config", "none.json"], status: 64, in: project)
      #expect(
        missing.errors == [
          "watchrun: there is no file none.json; 'watchrun --init --config none.json' writes one"
        ])
      try project.makeDirectory("folder")
      let odd = try await said(["--config", "folder"], status: 64, in: project)
      #expect(odd.errors == ["watchrun: folder is no file that can be read again"])
      let unchecked = try await said(["--check"], status: 64, in: project)
      #expect(
        unchecked.errors == [
          "watchrun: there is no file watchrun.json to check; --init writes one"
        ])
    }
  }

  @Test func withACommandTheFileIsNotRead() async throws {
    try await withProject { project in
      try project.write("watchrun.json", "broken")
      let watchrun = try await said(["--once", "-q", "echo", "told"], in: project)
      #expect(watchrun.output == ["told"])
      #expect(watchrun.errors.isEmpty)
    }
  }
}
