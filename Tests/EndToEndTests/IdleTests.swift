import TestSupport
import Testing

/// Without a change, nothing wakes up, whatever was done before.
@Suite(.enabled(if: Tool.python)) struct IdleTests {
  @Test func `a server that became ready and was asked for a page causes no wake-ups`()
    async throws
  {
    try await withProject { project in
      let port = String(try freePort())
      try project.place("index.html", "hello")
      let watchrun = try await project.start(
        "--verbose", "-r", "--proxy", port, "--", "python3", "-m", "http.server", "-b", "127.0.0.1",
        port)
      try await watchrun.watching()
      let line = try await watchrun.said("at http://localhost:")
      let page = line.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
      let fetch = """
        python3 -c 'import urllib.request as r
        print(r.urlopen("http://localhost:\(page)/").read())'
        """
      try await #expect(project.shell(fetch).contains("hello"))
      var before: [String: Substring] = [:]
      var now = ProcessTable.wakeups(of: watchrun.process.pid)
      for _ in 0..<20 where now != before {
        // Not a wait for something, but the time in which nothing may happen.
        try await Task.sleep(for: .seconds(1.2))
        (before, now) = (now, ProcessTable.wakeups(of: watchrun.process.pid))
      }
      #expect(now == before)
    }
  }
}
