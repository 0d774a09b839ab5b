import LiveReload

func servePages() throws {
  let server = PageServer { report in
    if case .serving(let page, let urls) = report { print(page, "is at", urls[0]) }
  }
  try server.open(Page(name: "site", source: .directory("/project/public")))
  try server.open(
    Page(name: "app", source: .upstream(ServerAddress(port: 3000)), dependencies: ["build"]))

  var page = Page(name: "site", source: .directory("/project/dist"))
  page.proxies = [ProxyRule(path: "/api", server: ServerAddress(port: 3000))].compactMap(\.self)
  try server.open(page)

  server.note(.tasks([.init(name: "build", command: "make")]))
  server.note(.roundBegan(reason: "change", changes: [.init(path: "index.txt", kind: "modified")]))
  server.note(.started(task: "build"))
  server.note(.output(task: "build", line: Array("index.txt:3: error: no title".utf8)))
  server.note(.ended(task: "build", .failed, status: 1, duration: .milliseconds(120)))
  server.note(.roundEnded(succeeded: false))

  server.note(.changed(["/project/public/style.css"]))

  server.showFailure(
    PageFailure(title: "cannot render", text: "posts/first.md:3: no title"), page: "site")
  server.reload(page: "site")

  server.close(page: "app")
  server.stop()
}

func describe(_ error: PageError) -> String {
  error.code == .portInUse ? "\(error.page): choose another port" : error.message
}
