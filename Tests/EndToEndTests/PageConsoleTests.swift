import SystemCalls
import Testing

/// What a page writes to its console, in the terminal.
@Suite(.enabled(if: Tool.python)) struct PageConsoleTests {
  /// What the script of a page does: gets the token, and sends what it is told. Prints each status.
  private static let script = #"""
    import http.client, json, sys
    port, text = int(sys.argv[1]), sys.argv[2]
    def request(method, path, body=None, **fields):
        connection = http.client.HTTPConnection("localhost", port, timeout=30)
        fields = {"Origin": f"http://localhost:{port}"} | fields
        connection.request(method, path, body, fields)
        return connection.getresponse()
    events = request("GET", "/__watchrun/events")
    hello = next(json.loads(line[6:]) for line in events if line.startswith(b"data: "))
    report = json.dumps({"entries": [{"level": "error", "text": text},
                                     {"level": "warning", "text": "soon"}], "omitted": 0})
    path = "/__watchrun/console?token="
    print(request("POST", path + "0", report).status,
          request("POST", path + hello["token"], report, Origin="http://evil.test").status,
          request("POST", path + hello["token"], report).status)
    """#

  /// Poses as the script of the page at the address in a line. Returns the statuses of a report with a
  /// wrong token, one of another site, and a valid one.
  private func send(_ text: String, as line: String, _ project: Project) async throws -> String {
    try project.place(project.outside + "/script.py", Self.script)
    let port = line.split(separator: ":").last.map { $0.prefix(while: \.isNumber) } ?? ""
    let process = try project.startBeside(
      ["python3", project.outside + "/script.py", String(port), text])
    try await eventually("the script ends") { process.exitStatus != nil && process.output.isAtEnd }
    return process.output.lines.joined()
  }

  @Test func `errors of a page are lines with its name, where its key says so`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.place("public/app.js")
      try project.writeTasks("site: { serve: 'public', console: true },")
      let watchrun = try await project.startTasks()
      let line = try await watchrun.said("serving public at http://localhost:")
      let text = "TypeError: \u{1B}[31mno\u{1B}]0;title\u{7}\n  at /app.js:3:5"
      #expect(try await send(text, as: line, project) == "403 403 204")
      try await watchrun.said("site | warning: soon")
      #expect(
        watchrun.errors.filter { $0.hasPrefix("site | ") } == [
          "site | error: TypeError: no", "site |   at public/app.js:3:5", "site | warning: soon",
        ])
    }
  }

  @Test func `without the key, they are shown at a terminal, and only there`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      let watchrun = try await project.start("--serve", "public")
      let line = try await watchrun.said("serving public at http://localhost:")
      #expect(try await send("bad", as: line, project) == "404 403 404")
      #expect(!watchrun.errors.contains { $0.contains("bad") })
      let session = try await project.startOnTerminal("--serve", "public")
      let address = try await session.shows("serving public at http://localhost:")
      #expect(try await send("bad", as: address, project) == "403 403 204")
      #expect(try await session.shows("error: bad").contains("page"))
    }
  }
}
