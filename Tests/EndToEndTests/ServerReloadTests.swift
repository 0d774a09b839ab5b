import SystemCalls
import TestSupport
import Testing

/// Pages in front of servers that start themselves again after a save, as flask, uvicorn, Django and node do.
@Suite struct ServerReloadTests {
  /// A server that answers what `app.py` says since it started, with a watcher of that file.
  private static let server = #"""
    import http.server, os, re, signal, socket, sys, time
    how, port = sys.argv[1], int(sys.argv[2])
    def version():
        return re.search("v[0-9]+", open("app.py").read())[0]
    def listen():
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", port))
        s.listen(50)
        return s
    def serve(s):
        time.sleep(0.3)  # the imports of a real one
        answer = version()
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = f"<!doctype html><p>{answer}</p>".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler, False)
        server.socket.close()
        server.socket = s
        server.serve_forever()
    def changed(since):
        time.sleep(0.2)
        return version() != since
    if how == "execs":
        import threading
        now = version()
        threading.Thread(target=serve, args=(listen(),), daemon=True).start()
        while not changed(now):
            pass
        os.execv(sys.executable, [sys.executable] + sys.argv)
    shared = listen() if how == "inherits" else None
    while True:
        now, child = version(), os.fork()
        if child == 0:
            serve(shared or listen())
        while not changed(now):
            pass
        os.kill(child, signal.SIGKILL)
        os.wait()
    """#

  /// What a browser does: loads a page, and loads it again when it is told to.
  private static let browser = #"""
    import http.client, json, os, re, sys
    port = int(sys.argv[1])
    def get(path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers={"Accept": "text/html", "Host": "localhost"})
        return connection.getresponse()
    def load():
        text = get("/").read().decode()
        with open(os.environ["LOG"], "a") as log:
            log.write("page " + (re.search("<p>(.*?)</p>", text) or "?")[1] + "\n")
        return int(re.search('data-revision="?([0-9]+)', text)[1])
    events = get("/__watchrun/events")
    revision = load()
    for line in events:
        if line.startswith(b"data: "):
            message = json.loads(line[6:])
            if message["type"] in ("reload", "update") and message["revision"] > revision:
                revision = load()
    """#

  private func showPage(of watchrun: Watchrun, in project: Project) async throws {
    try project.place(project.outside + "/browser.py", Self.browser)
    let line = try await watchrun.said("at http://localhost:")
    let page = line.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
    try project.startBeside(["python3", project.outside + "/browser.py", page])
    try await eventually("the page is loaded") { project.logged == ["page v1"] }
  }

  @Test(arguments: Effort.rows(["execs", "inherits", "binds"], quick: 1), [false, true])
  func `a page shows what a server that reloads itself answers after each save`(
    how: String, isCommand: Bool
  ) async throws {
    try await withProject { project in
      try project.place("app.py", "v1")
      try project.place(project.outside + "/server.py", Self.server)
      let port = String(try freePort())
      let command = ["python3", project.outside + "/server.py", how, port]
      if !isCommand { try project.startBeside(command) }
      let watchrun = try await project.start(
        ["--verbose", "--proxy", port] + (isCommand ? ["--"] + command : []))
      try await watchrun.watching()
      try await showPage(of: watchrun, in: project)
      for number in 2...4 {
        try project.place("app.py", "v\(number)")
        try await eventually("the page shows v\(number)") {
          project.logged.last == "page v\(number)"
        }
        // That of the save before may come only now.
        let most = 1 + 2 * (number - 1)
        #expect(project.logged.count <= most, "more than one needless reload: \(project.logged)")
      }
    }
  }

  @Test func `a page that is served alone is reloaded when a pause ends`() async throws {
    try await withProject { project in
      try project.makeDirectory("public")
      try project.place("public/index.html", "<!doctype html><body><p>v1</p>")
      let watchrun = try await project.start("--verbose", "--serve", "public")
      try await watchrun.watching()
      try await showPage(of: watchrun, in: project)
      try await project.start(["--send", "pause"]).ended()
      try project.place("public/index.html", "<!doctype html><body><p>v2</p>")
      try await watchrun.said("watchrun: modified public/index.html")
      try project.place("public/other.html", "<!doctype html><body><p>v2</p>")
      try await watchrun.said("watchrun: created public/other.html")
      #expect(project.logged == ["page v1"])
      try await project.start(["--send", "resume"]).ended()
      try await eventually("the page is loaded again") {
        project.logged == ["page v1", "page v2"]
      }
    }
  }
}
