import Testing

@testable import LiveReload

/// Media types, ranges and entity tags.
struct FilesTests {
  @Test(arguments: [
    ("a.html", "text/html; charset=utf-8"), ("A.HTML", "text/html; charset=utf-8"),
    ("/x.y/a.css", "text/css; charset=utf-8"), ("app.min.js", "text/javascript; charset=utf-8"),
    ("a.mjs", "text/javascript; charset=utf-8"), ("a.js.map", "application/json; charset=utf-8"),
    ("a.svg", "image/svg+xml; charset=utf-8"), ("a.wasm", "application/wasm"),
    ("a.png", "image/png"), ("a.woff2", "font/woff2"), ("a.mp4", "video/mp4"),
    ("a.pdf", "application/pdf"), ("a.zip", "application/zip"),
    ("a.yml", "application/yaml; charset=utf-8"), ("a.md", "text/markdown; charset=utf-8"),
    ("site.webmanifest", "application/manifest+json; charset=utf-8"),
    ("a.m3u8", "application/vnd.apple.mpegurl"),
    ("a.mpd", "application/dash+xml"), ("a.py", "text/x-python; charset=utf-8"),
    ("a.ts", "text/plain; charset=utf-8"), ("LICENSE", "text/plain; charset=utf-8"),
    ("a.no-such-ending", "application/octet-stream"), ("a.", "text/plain; charset=utf-8"),
    (".html", "text/plain; charset=utf-8"), ("a.css/b", "text/plain; charset=utf-8"),
  ])
  func `the extension decides the media type`(name: String, type: String) {
    #expect(MediaType.of(name.utf8, isUTF8: true) == type)
  }

  @Test(arguments: [
    ("a.ts", "video/mp2t"), ("a.m2ts", "video/mp2t"), ("program", "application/octet-stream"),
    ("a.css", "text/css"), ("a.py", "text/x-python"),
  ])
  func `so does what a file is that is no text in UTF-8`(name: String, type: String) {
    #expect(MediaType.of(name.utf8, isUTF8: false) == type)
  }

  @Test(arguments: ["pt.br", "site.tar.br", "a.json.br", "a.txt.gz", "br", ".br", "js.br"])
  func `a name that is no page's has no encoding`(name: String) {
    #expect(MediaType.encoding(name.utf8) == nil)
  }

  @Test(arguments: [
    ("text/html", true), ("Text/HTML ; charset=x", true), ("text/html;x", true),
    ("application/xhtml+xml", true), ("text/htmlx", false), ("text/plain", false), ("", false),
  ])
  func `HTML is recognized regardless of its parameters`(type: String, isHTML: Bool) {
    #expect(MediaType.isHTML(type.utf8) == isHTML)
  }

  @Test(arguments: [
    ("bytes=0-9", 100, ByteRange.part(0..<10)), ("bytes=0-", 100, .part(0..<100)),
    ("Bytes=5-5", 100, .part(5..<6)), ("bytes=90-200", 100, .part(90..<100)),
    ("bytes=-5", 100, .part(95..<100)), ("bytes=-500", 100, .part(0..<100)),
    (" bytes= 1 - 2 ", 100, .part(1..<3)), ("bytes=99-", 100, .part(99..<100)),
    ("bytes=0-99999999999999999999999", 100, .part(0..<100)),
    ("bytes=0-9223372036854775807", 100, .part(0..<100)),
    ("bytes=-99999999999999999999999", 100, .part(0..<100)),
    ("bytes=100-", 100, .unsatisfiable), ("bytes=0-", 0, .unsatisfiable),
    ("bytes=-0", 100, .unsatisfiable), ("bytes=99999999999999999999999-", 100, .unsatisfiable),
    ("bytes=-5", 0, .whole), ("bytes=0-1,3-4", 100, .whole), ("bytes=5-4", 100, .whole),
    ("bytes=", 100, .whole), ("bytes=-", 100, .whole), ("bytes=a-b", 100, .whole),
    ("bytes=+1-2", 100, .whole), ("bytes=1--2", 100, .whole), ("bytes 1-2", 100, .whole),
    ("lines=1-2", 100, .whole), ("", 100, .whole), ("bytes=1", 100, .whole),
  ])
  func `a range is parsed for the size of a file`(value: String, size: Int, range: ByteRange) {
    #expect(ByteRange(value.utf8, size: size) == range)
  }

  private let tag = EntityTag(inode: 35, size: 36, modified: 71, changed: 1, variant: "s-7")

  @Test func `an entity tag depends on everything that the bytes depend on`() {
    #expect(tag.text == "\"z.10.1z.1.s-7\"")
    let others = [
      EntityTag(inode: 36, size: 36, modified: 71, changed: 1, variant: "s-7"),
      EntityTag(inode: 35, size: 37, modified: 71, changed: 1, variant: "s-7"),
      EntityTag(inode: 35, size: 36, modified: -72, changed: 1, variant: "s-7"),
      EntityTag(inode: 35, size: 36, modified: 71, changed: 2, variant: "s-7"),
      EntityTag(inode: 35, size: 36, modified: 71, changed: 1),
      EntityTag(inode: 35, size: 36, modified: 71, changed: 1, variant: "\"\r\n\"a"),
    ]
    #expect(Set(others + [tag]).count == 7)
    #expect(others[5].text == "\"z.10.1z.1.a\"")
  }

  @Test(arguments: [
    ("\"z.10.1z.1.s-7\"", true), ("W/\"z.10.1z.1.s-7\"", true), ("*", true), (" * ", true),
    ("\"a\", W/\"b\" ,,\"z.10.1z.1.s-7\"", true), ("\"z.10.1z.1.s-7\",\"a,b\"", true),
    ("\"z.10.1z.1\"", false), ("z.10.1z.1.s-7", false), ("", false),
    ("\"a\" \"z.10.1z.1.s-7\"", false), ("\"z.10.1z.1.s-7\", x", true), ("\"", false),
    ("w/\"z.10.1z.1.s-7\"", false), ("*, \"a\"", false), ("\"a, z.10.1z.1.s-7\"", false),
  ])
  func `If-None-Match is a list of tags`(value: String, matches: Bool) {
    #expect(tag.matches(ifNoneMatch: value.utf8) == matches)
  }

  @Test(arguments: [
    ("\"z.10.1z.1.s-7\"", true), ("W/\"z.10.1z.1.s-7\"", false), ("*", false), ("", false),
    ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sun, 06 Nov 1994 08:49:38 GMT", false),
  ])
  func `If-Range requires the same bytes`(value: String, matches: Bool) {
    #expect(tag.matches(ifRange: value.utf8, lastModified: 784_111_777) == matches)
  }
}
