import Support
import Testing

struct HostAndPortTests {
  @Test(
    arguments: [
      ("a", "a", nil), ("a:80", "a", 80), ("[::1]:65535", "::1", 65_535), ("[::1]", "::1", nil),
      ("", "", nil),
      (":1", "", 1),
    ] as [(String, String, UInt16?)])
  func `a port is separated from its host`(text: String, name: String, port: UInt16?) throws {
    let place = try #require(HostAndPort(Array(text.utf8)[...]))
    #expect(place.name.elementsEqual(name.utf8))
    #expect(place.port == port)
  }

  @Test(arguments: [
    "a:", "a:0", "a:65536", "a:+1", "a:1:2", "a:x", "[::1", "::1]", "[::1]x", "[::1]:",
  ])
  func `a bad port, or a lone bracket, is refused`(text: String) {
    #expect(HostAndPort(Array(text.utf8)[...]) == nil)
  }

  @Test func `a URL has an authority and a rest`() throws {
    let url = Array("HTTP://a:1?b/c".utf8)
    let (authority, rest) = try #require(url[...].splitURL(after: "http://"))
    #expect(authority.elementsEqual("a:1".utf8) && rest.elementsEqual("?b/c".utf8))
    #expect(url[...].splitURL(after: "https://") == nil)
    #expect(bracketed("::1") == "[::1]" && bracketed("a") == "a")
  }
}
