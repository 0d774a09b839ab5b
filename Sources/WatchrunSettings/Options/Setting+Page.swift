extension Setting {
  static let page: [Setting] = [
    Setting(
      "--serve", .page, "Serve DIR to browsers and reload pages on changes",
      key: .key("serve", "directory to serve", in: .page), .directory, page: { $0.served = $1 }),
    Setting(
      "--proxy", .page, "Proxy a server, or some paths: host:3000, /api=3000", isRepeatable: true,
      key: .key(
        "proxy",
        "port or URL of the server behind the page; or an object of paths, each with its server",
        in: .page),
      .servers,
      page: { page, servers in
        page.proxies.removeAll { old in servers.contains { $0.path == old.path } }
        page.proxies += servers
      }),
    Setting(
      "--port", .page, "Port of the page", default: "first free from 8080",
      key: .key("port", in: .page), .port, page: { $0.port = $1 }),
    Setting(
      "--host", .page, "Listen on ADDRESS too", default: "this computer only", isRepeatable: true,
      key: .key("host", "addresses to listen on", in: .page), .hosts, page: { $0.hosts += $1 }),
    Setting(
      key: .key("reload", "more files and directories whose changes reload the page", in: .page),
      .paths, page: { $0.reload = $1 }),
    Setting(
      "--fallback", .page, "Serve FILE of DIR for missing pages, as in index.html", scope: .files,
      key: .key("fallback", "file to serve for missing paths, as in index.html", in: .page), .file,
      others: ["--entry-file --spa": "--serve . --fallback %"],
      page: { $0.fallback = $1.bytes.decoded }),
    Setting(
      "--header", .page, "Add FIELD to all answers, as in 'Cache-Control: no-store'",
      isRepeatable: true,
      key: .key(
        "headers",
        "header fields to add to all answers, in place of those of the same name", in: .page),
      .headers,
      page: { page, fields in
        page.headers.removeAll { old in fields.contains { $0.isNamed(old.name) } }
        page.headers += fields
      }),
    Setting(
      key: .key("overlay", "show failures in the page", in: .page, default: "true"), .boolean,
      page: { $0.showsOverlay = $1 }),
    Setting(
      key: .key(
        "console", "print errors and warnings of the page's console", in: .page,
        default: "true at a terminal"),
      .boolean, page: { $0.reportsConsole = $1 }),
    Setting(
      "--listing", .page, "List directories that have no index", scope: .files,
      key: .key("listing", "list directories that have no index.html", in: .page), .boolean,
      page: { $0.listsDirectories = $1 }),
    Setting(
      key: .key("dotfiles", "serve files whose names begin with a dot", in: .page), .boolean,
      page: { $0.servesDotFiles = $1 }),
    Setting(
      "--open", .page, "Open the page in a browser", .boolean,
      others: ["--no-browser --no-open": "no page is opened without --open"],
      option: { $0.opensBrowser = $1 }),
    Setting(
      "--editor", .page, "Open links to source lines with COMMAND",
      default: "$WATCHRUN_EDITOR, $VISUAL or $EDITOR",
      .shellLine, option: { $0.editor = $1.decoded }),
  ]
}
