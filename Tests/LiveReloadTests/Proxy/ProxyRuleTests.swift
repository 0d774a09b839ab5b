import Testing

@testable import LiveReload

/// Which requests a rule is for.
struct ProxyRuleTests {
  private func rule(_ path: String) -> ProxyRule? {
    ProxyRule(path: path, server: ServerAddress(port: 3000))
  }

  @Test(arguments: [
    ("/api", "/api", true), ("/api", "/api/", true), ("/api", "/api/x", true),
    ("/api", "/apix", false), ("/api", "/", false), ("/api", "//api", false),
    ("/api", "/API", false), ("/api", "*", false), ("/api", "/x/api", false),
    ("/api", "/%61pi/x", true), ("/api", "/api%2fx", false), ("/api", "/api/%zz", true),
    ("/api", "/%zz", false), ("/api/", "/api", true), ("/a/b", "/a/b/c", true),
    ("/a/b", "/a/bc", false), ("/a/b", "/a", false), ("/a%20b", "/a%20b/c", true),
    ("/größe", "/gr%C3%B6%C3%9Fe", true), ("/", "/x", true), ("/", "*", true),
  ])
  func `a rule matches whole names of a path, decoded`(
    path: String, request: String, matches: Bool
  ) throws {
    #expect(try #require(rule(path)).matches(Array(request.utf8)) == matches)
  }

  @Test(arguments: [
    "", "api", "//", "/a//b", "/api/*", "/a?b", "/a#b", "/a b", "/a%zz", "/a\n", "/a\u{7F}",
  ])
  func `a text that no request can match is no path`(path: String) {
    #expect(rule(path) == nil)
  }

  @Test func `a trailing slash makes no difference`() throws {
    #expect(rule("/api/") == rule("/api") && rule("/api/")?.path == "/api")
    #expect(rule("/")?.path == "/" && rule("/")?.matchesAll == true)
  }
}
