import FileObservation
import LiveReload

extension OptionTable {
  static let page: [Option] = [
    Option(nil, "serve", "DIR", .page, "serve DIR to browsers; reload pages on changes") {
      (settings, value) throws(UsageError) in
      settings.served = try path(value)
    },
    Option(
      nil, "proxy", "URL", .page,
      "put a reloading proxy in front of a server: 3000, host:3000"
    ) { (settings, value) throws(UsageError) in
      settings.upstream = try ServerAddress(parsing: text(value))
    },
    Option(nil, "port", "PORT", .page, "port of the page (default: first free from 8080 on)") {
      (settings, value) throws(UsageError) in
      settings.pagePort = try port(value)
    },
    Option(nil, "host", "ADDRESS", .page, "listen on ADDRESS, too (default: this computer only)") {
      (settings, value) throws(UsageError) in
      settings.pageHosts.append(try host(value))
    },
    Option(nil, "open", nil, .page, "open the page in a browser") { settings, _ in
      settings.opensBrowser = true
    },
    Option(
      nil, "editor", "COMMAND", .page,
      """
      editor for links to source lines (default:
      $WATCHRUN_EDITOR, $VISUAL, $EDITOR)
      """
    ) { (settings, value) throws(UsageError) in
      settings.editor = text(try line(value))
    },
  ]

  private static func port(_ value: [UInt8]) throws(UsageError) -> UInt16 {
    let isNumber = value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isNumber, let port = UInt16(text(value)), port > 0 else {
      throw UsageError("'\(Path(bytes: value))' is not a port from 1 to 65535")
    }
    return port
  }

  private static func host(_ value: [UInt8]) throws(UsageError) -> String {
    let host = text(value)
    guard PageHost.isValid(host) else {
      throw UsageError("'\(Path(bytes: value))' is not an address; write 0.0.0.0 or a host name")
    }
    return host
  }
}
