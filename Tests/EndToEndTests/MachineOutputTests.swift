import TestSupport
import Testing

/// The JSON that watchrun prints is as the schemas in `Documentation` describe it.
@Suite struct MachineOutputTests {
  @Test func `printed changes are as their schema describes them`() async throws {
    let schema = try SchemaEvaluator(documented: "changes.schema.json")
    try await withProject { project in
      try project.write("old")
      let watchrun = try await project.startPrinting()
      try await project.shell(
        #"mkdir d; mv old d/new; echo x > $OUTSIDE/x; mv $OUTSIDE/x "$(printf 'bad\377.txt')""#)
      try await project.reported("d/new", by: watchrun)
      try await project.settle(watchrun)
      try project.remove("d/new")
      try await project.reported("d/new", "removed", by: watchrun)
      for line in watchrun.process.output.lines {
        #expect(try schema.accepts(text: line), "\(line)")
      }
    }
  }

  @Test func `the input of a command conforms to the schema`() async throws {
    let schema = try SchemaEvaluator(documented: "changes.schema.json")
    try await withProject { project in
      _ = try await project.startRunning(["--emit", "json"], #"cat >> "$LOG""#)
      try project.place("file")
      try await eventually("two objects") { project.logged.count == 2 }
      for line in project.logged { #expect(try schema.accepts(text: line), "\(line)") }
    }
  }

  @Test func `the list of tasks is as its schema describes it`() async throws {
    let schema = try SchemaEvaluator(documented: "tasks.schema.json")
    try await withProject { project in
      try project.write("Makefile", "app: app.c\n\tcc -o app app.c\ntest: app\n\t./app\n")
      let detected = try await project.start("--list-tasks", "--json")
      try await #expect(detected.ended() == .exited(0))
      let lines = detected.process.output.lines
      #expect(lines.count == 1)
      #expect(lines.first?.hasPrefix(#"{"file":null,"detected":"a Makefile","#) == true)
      #expect(try schema.accepts(text: lines.joined()))
      try project.write(
        "watchrun.json",
        """
        { tasks: { server: { run: ["./s", "a b"], service: true, ready: { port: 80 } },
                   page: { proxy: 8080, after: "server" } } }
        """)
      let listed = try await project.start("--list-tasks", "--json", "-t", "server")
      try await #expect(listed.ended() == .exited(0))
      #expect(
        listed.process.output.lines == [
          #"{"file":"watchrun.json","detected":null,"tasks":[{"name":"server","run":["./s","a b"],"#
            + #""watch":["."],"exts":[],"filter":[],"ignore":[],"writes":[],"after":[],"service":true,"#
            + #""postpone":false,"manual":false,"fresh":true,"ready":{"port":80}}],"pages":[],"version":1}"#
        ])
      #expect(try schema.accepts(text: listed.process.output.lines.joined()))
    }
  }
}
