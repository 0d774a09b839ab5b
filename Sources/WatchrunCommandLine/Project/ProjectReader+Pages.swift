import LiveReload
import Support
import SystemCalls

// Reads the pages.

extension ProjectReader {
  mutating func readPage(_ member: JSONValue.Member, _ draft: inout ProjectDraft) {
    let title = "the page '\(Path(member.key))'"
    guard let fields = fields(of: member.value, .page, named: title) else { return }
    draft.references = after(fields["after"])
    draft.milestone = .none
    draft.port = port(fields["port"])
    draft.portOffset = fields["port"]?.value.offset ?? member.keyOffset
    var page = Project.Page(
      name: member.key, served: path(fields["serve"]), proxies: proxies(fields["proxy"]),
      port: draft.port, reload: paths(fields["reload"]) ?? [],
      after: draft.references.map(\.name), hosts: hosts(fields["host"]),
      fallback: string(fields["fallback"]))
    page.headers = headers(fields["headers"])
    page.showsOverlay = boolean(fields["overlay"]) ?? true
    page.reportsConsole = boolean(fields["console"])
    page.listsDirectories = boolean(fields["listing"]) ?? false
    page.servesDotFiles = boolean(fields["dotfiles"]) ?? false
    checkTogether(page, fields)
    draft.page = page
  }

  /// Checks combinations of keys that are valid one by one.
  private mutating func checkTogether(_ page: Project.Page, _ fields: ProjectFields) {
    if let port = page.port, let field = fields["port"],
      page.proxies.contains(where: { $0.server == .port(port) })
    {
      note(
        "the page must have another port than the server that it is a proxy for",
        at: field.value.offset)
    }
    if let field = fields["proxy"] { checkRest(field, isServed: fields["serve"] != nil) }
    if fields["serve"] != nil { return }
    for name in ["fallback", "listing", "dotfiles"] {
      guard let field = fields[name] else { continue }
      note(
        "'\(name)' is for a served directory; a proxy leaves that to its server",
        at: field.keyOffset)
    }
  }

  /// Checks that one of a directory and a server answers the requests without a path of their own.
  private mutating func checkRest(_ field: ProjectField, isServed: Bool) {
    var isProxied = true
    if case .object(let members) = field.value.content {
      if members.isEmpty { return note("'proxy' is empty; remove it", at: field.value.offset) }
      isProxied = members.contains { $0.key == Project.Page.Proxy.all }
    }
    if isServed && isProxied {
      note(
        "this server would answer everything, and nothing would be served; remove 'serve', or "
          + #"name the paths to proxy, as in { "/api": 8080 }"#, at: field.keyOffset)
    } else if !isServed && !isProxied {
      note(
        #"nothing answers the other paths; add 'serve', or a server for "/""#, at: field.keyOffset)
    }
  }

  /// A server for all requests, or an object of paths.
  private mutating func proxies(_ field: ProjectField?) -> [Project.Page.Proxy] {
    guard let field else { return [] }
    guard case .object(let members) = field.value.content else {
      return server(field).map { [.init(path: Project.Page.Proxy.all, server: $0)] } ?? []
    }
    var proxies: [Project.Page.Proxy] = []
    for member in members {
      let value = ProjectField(key: field.key, keyOffset: member.keyOffset, value: member.value)
      let server = server(value)
      guard let rule = ProxyRule(path: member.key, server: ServerAddress(port: 80)) else {
        note(
          "'\(Path(member.key))' is not a path to proxy; write one such as \"/api\", which includes "
            + "all below it", at: member.keyOffset)
        continue
      }
      if proxies.contains(where: { $0.path == rule.path }) {
        note("'\(Path(member.key))' occurs twice; remove one", at: member.keyOffset)
      }
      if let server { proxies.append(.init(path: rule.path, server: server)) }
    }
    return proxies
  }

  private mutating func server(_ field: ProjectField) -> Project.Page.Server? {
    if let port = Self.port(field.value) { return .port(port) }
    guard let url = url(field) else { return nil }
    if ServerAddress(url: url) == nil {
      note("the address of the server must not have a query; remove it", at: field.value.offset)
    }
    return .url(url)
  }

  private mutating func headers(_ field: ProjectField?) -> [HeaderField] {
    guard let field else { return [] }
    guard case .object(let members) = field.value.content else {
      mismatch(field)
      return []
    }
    var headers: [HeaderField] = []
    for member in members {
      guard case .string(let value) = member.value.content else {
        note(
          "the header '\(Path(member.key))' must be a string, not \(member.value.kindName)",
          at: member.value.offset)
        continue
      }
      if headers.contains(where: { $0.isNamed(member.key) }) {
        note("'\(Path(member.key))' occurs twice; remove one", at: member.keyOffset)
      }
      do throws(HeaderField.Problem) {
        headers.append(try HeaderField(name: member.key, value: value))
      } catch {
        note(error.text(of: member.key), at: member.keyOffset)
      }
    }
    return headers
  }
}
