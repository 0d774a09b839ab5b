import LiveReload

func servePages() throws {
  let server = PageServer(directory: "/project") { report in
    if case .serving(let page, let urls) = report { print(page, "is at", urls[0]) }
  }
  try server.open(Page(name: "site", source: .directory("/project/public")))
  try server.open(
    Page(name: "app", source: .upstream(ServerAddress(port: 3000)), dependencies: ["build"]))

  server.note(.tasks([.init(name: "build", command: "make")]))
  server.note(.roundBegan(reason: "change", changes: [.init(path: "index.txt", kind: "modified")]))
  server.note(.started(task: "build"))
  server.note(.output(task: "build", line: Array("index.txt:3: error: no title".utf8)))
  server.note(.ended(task: "build", .failed, status: 1, duration: .milliseconds(120)))
  server.note(.roundEnded(succeeded: false))

  server.note(.changed(["/project/public/style.css"]))

  server.close(page: "app")
  server.stop()
}

func describe(_ error: PageError) -> String {
  error.code == .portInUse ? "\(error.page): choose another port" : error.message
}
