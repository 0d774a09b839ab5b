import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// Files whose encoding is not UTF-8, or unknown.
struct EncodingTests {
  private static let utf8Script = "text/javascript; charset=utf-8"
  private static let files: [(name: String, content: [UInt8], type: String)] = [
    ("utf8.html", Array("<p>é".utf8), "text/html; charset=utf-8"),
    ("ascii.css", Array("p{}".utf8), "text/css; charset=utf-8"),
    ("latin.html", [0x3C, 0x70, 0x3E, 0xE9], "text/html"),
    ("shift.html", [0x93, 0xFA, 0x96, 0x7B], "text/html"), ("latin.txt", [0xE9], "text/plain"),
    ("jis.html", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "text/html"),
    ("color.log", Array("\u{1B}[31mé".utf8), "text/plain; charset=utf-8"),
    ("utf16.html", [0xFF, 0xFE, 0x61, 0], "text/html"),
    ("long.js", Array(String(repeating: "x", count: 40_000).utf8) + [0xE9], "text/javascript"),
    // Characters and escape sequences at the borders of the parts that are read.
    ("even.js", Array(repeating: [0xC3, 0xA9], count: 100_000).flatMap { $0 }, utf8Script),
    ("odd.js", [0x78] + Array(repeating: [0xC3, 0xA9], count: 100_000).flatMap { $0 }, utf8Script),
    ("wide.js", Array(repeating: [0xE6, 0x97, 0xA5], count: 70_000).flatMap { $0 }, utf8Script),
    (
      "cut.js", Array(repeating: [0xE6, 0x97, 0xA5], count: 70_000).flatMap { $0 } + [0xE6],
      "text/javascript"
    ),
    (
      "inner.js",
      Array(String(repeating: "x", count: 40_000).utf8) + [0xE6, 0x97]
        + Array(String(repeating: "x", count: 90_000).utf8), "text/javascript"
    ),
    ("bytes.js", Array(repeating: 0x80, count: 100_000), "text/javascript"),
    (
      "escapes.log", Array(repeating: 0x1B, count: 65_535) + Array("[m[31m".utf8),
      "text/plain; charset=utf-8"
    ),
    (
      "border.js", Array(String(repeating: "x", count: 65_535).utf8) + [0x1B, 0x24, 0x42, 0x46],
      "text/javascript"
    ),
    (
      "border2.js", Array(String(repeating: "x", count: 65_534).utf8) + [0x1B, 0x24, 0x42, 0x46],
      "text/javascript"
    ),
    (
      "color2.log", Array(String(repeating: "\u{1B}[31mé", count: 20_001).utf8),
      "text/plain; charset=utf-8"
    ),
    ("a.png", [0x89, 0x50], "image/png"),
  ]

  @Test(arguments: files.indices)
  func `a file is said to be UTF-8 only if it is`(row: Int) throws {
    let (name, content, type) = Self.files[row]
    let directory = try TemporaryDirectory()
    try directory.write("", to: name)
    let file = try Descriptor.open(directory[name], O_WRONLY)
    try writeAll(content, to: file.number)
    let response = Self.respond(to: "/\(name)", in: directory)
    #expect(response.status == 200)
    #expect(
      response.fields.first("content-type").map { String(decoding: $0, as: UTF8.self) } == type)
  }

  @Test func `an XHTML page gets a tag that is XML`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("<html xmlns='x'><head></head></html>", to: "a.xhtml")
    guard case .bytes(let bytes) = Self.respond(to: "/a.xhtml", in: directory).body else {
      Issue.record("it is not in memory")
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.hasPrefix("<html xmlns='x'><head><script xmlns=\"http://www.w3.org/1999/xhtml\" src="))
    #expect(text.hasSuffix(" async=\"\"></script></head></html>"))
  }

  private static func respond(to target: String, in directory: TemporaryDirectory) -> HTTPResponse {
    let request = HTTPRequestHead(
      method: "GET", target: Array(target.utf8), host: [], minorVersion: 1, fields: HTTPFields(),
      framing: .none)
    let script = ScriptTag(session: "s", revision: 1)
    return FileResponder(
      directory.path, of: Page(name: "page", source: .directory(directory.path))
    ).respond(
      to: request, script: script)
  }
}
