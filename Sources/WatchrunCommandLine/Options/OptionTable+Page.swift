import LiveReload

extension OptionTable {
  static let page: [Option] = [
    Option(
      nil, "serve", .init("DIR", .directory), .page,
      "Serve DIR to browsers and reload pages on changes"
    ) { (settings, value) throws(UsageError) in
      settings.served = try path(value)
    },
    Option(
      nil, "proxy", .init("URL", .server), .page,
      "Proxy a server and reload its pages: 3000, host:3000"
    ) { (settings, value) throws(UsageError) in
      settings.upstream = try ServerAddress(parsing: text(value))
    },
    Option(
      nil, "port", .init("PORT", .port), .page, "Port of the page", default: "first free from 8080"
    ) { (settings, value) throws(UsageError) in
      settings.pagePort = try port(value)
    },
    Option(
      nil, "host", .init("ADDRESS", .host), .page, "Listen on ADDRESS too",
      default: "this computer only", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.pageHosts.append(try host(value))
    },
    Option(nil, "open", nil, .page, "Open the page in a browser") { settings, _ in
      settings.opensBrowser = true
    },
    Option(
      nil, "editor", .init("COMMAND", .shellLine), .page,
      "Open links to source lines with COMMAND",
      default: "$WATCHRUN_EDITOR, $VISUAL or $EDITOR"
    ) { (settings, value) throws(UsageError) in
      settings.editor = text(try line(value))
    },
  ]
}
