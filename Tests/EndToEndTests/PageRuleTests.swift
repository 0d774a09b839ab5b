import SystemCalls
import TestSupport
import Testing

/// A served directory with a path that a server beside it answers.
@Suite(.enabled(if: Tool.python)) struct PageRuleTests {
  /// A server that answers the requested path and what a file said when it started.
  private static let server = #"""
    import http.server, sys, time
    version = open("src/version").read()
    time.sleep(0.3)  # the imports of a real one
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            body = f"{self.path} {version}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *_):
            pass
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """#

  /// What a browser does: loads a page and what its script requests, again whenever it is told to, while
  /// another tab requests the same all the time.
  private static let browser = #"""
    import http.client, json, os, re, sys, threading
    port = int(sys.argv[1])
    def get(path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers={"Accept": "text/html", "Host": "localhost"})
        return connection.getresponse()
    def log(text):
        with open(os.environ["LOG"], "a") as file:
            file.write(text + "\n")
    def load():
        text = get("/").read().decode()
        log(re.search("<p>(.*?)</p>", text)[1] + " " + get("/api/version?x").read().decode())
        return int(re.search('data-revision="?([0-9]+)', text)[1])
    def poll():
        while True:
            answer = get("/api/version")
            answer.read()
            if answer.status != 200:
                log(f"status {answer.status}")
    events = get("/__watchrun/events")
    revision = load()
    threading.Thread(target=poll, daemon=True).start()
    for line in events:
        if line.startswith(b"data: "):
            message = json.loads(line[6:])
            if message["type"] in ("reload", "update") and message["revision"] > revision:
                revision = load()
    """#

  @Test func `requests for a path wait while its server restarts, and the page reloads`()
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.place("public/index.html", "<!doctype html><p>one</p>")
      try project.makeDirectory("src")
      try project.place("src/version", "v1")
      try project.place(project.outside + "/server.py", Self.server)
      try project.place(project.outside + "/browser.py", Self.browser)
      let port = String(try freePort())
      let watchrun = try await project.start(
        "--verbose", "--serve", "public", "--proxy", "/api=\(port)", "-w", "src", "-r", "--",
        "python3", project.outside + "/server.py", port)
      let line = try await watchrun.said("serving public and /api=localhost:\(port) at http://")
      try await watchrun.watching()
      let page = line.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
      try project.startBeside(["python3", project.outside + "/browser.py", page])
      try await project.logged("one /api/version?x v1")
      for version in ["v2", "v3"] {
        try project.place("src/version", version)
        try await project.logged("one /api/version?x \(version)")
      }
      try project.place("public/index.html", "<!doctype html><p>two</p>")
      try await project.logged("two /api/version?x v3")
      #expect(!project.logged.contains { $0.hasPrefix("status") })
    }
  }
}
