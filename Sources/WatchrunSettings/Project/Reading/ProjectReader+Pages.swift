import Support
import SystemCalls

// Reads the pages.

extension ProjectReader {
  mutating func readPage(_ member: JSONValue.Member, _ draft: inout ProjectDraft) {
    let title = "the page '\(member.key.printable)'"
    guard let fields = fields(of: member.value, .page, named: title) else { return }
    draft.fields = fields
    draft.after = after(fields["after"])
    var page = Project.Page(name: member.key)
    page.after = draft.after
    for (_, value) in assignments(fields) { value.page?(&page) }
    // It reloads when its servers are ready.
    for case .task(let name) in page.proxies.map(\.server) where !page.after.contains(name) {
      page.after.append(name)
    }
    if let file = page.fallbackFile, let field = fields["fallback"] {
      references.append(.init(path: file, key: field.name, offset: field.value.offset))
    }
    checkTogether(page, fields)
    draft.page = page
  }

  /// Checks combinations of keys that are valid one by one.
  private mutating func checkTogether(_ page: Project.Page, _ fields: [ProjectField]) {
    if page.isOwnServer, let field = fields["port"] {
      note(
        "the page must have another port than the server that it is a proxy for",
        at: field.value.offset)
    }
    if let field = fields["proxy"] { checkRest(field, isServed: fields["serve"] != nil) }
    if fields["serve"] != nil { return }
    refuse(
      ["fallback", "listing", "dotfiles"], in: fields,
      "'%' is for a served directory; a proxy leaves that to its server")
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
}
