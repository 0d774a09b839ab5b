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
      "Proxy a server, or some paths: host:3000, /api=3000", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      let rule = try ProxyRule(parsing: text(value))
      settings.proxies.removeAll { $0.path == rule.path }
      settings.proxies.append(rule)
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
    Option(
      nil, "fallback", .init("FILE", .file), .page,
      "Serve FILE of DIR for missing pages, as in index.html"
    ) { (settings, value) throws(UsageError) in
      settings.pageFallback = text(try path(value).bytes)
    },
    Option(
      nil, "header", .init("FIELD", .header), .page,
      "Add FIELD to all answers, as in 'Cache-Control: no-store'", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      let field = try header(value)
      settings.pageHeaders.removeAll { $0.isNamed(field.name) }
      settings.pageHeaders.append(field)
    },
    Option(nil, "listing", nil, .page, "List directories that have no index") { settings, _ in
      settings.listsDirectories = true
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
