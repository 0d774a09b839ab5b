import SystemCalls
import Testing

struct PathTests {
  @Test func `keeps bytes that are not UTF-8`() {
    let bytes: [UInt8] = [0x62, 0xFF, 0x2F, 0xC3]
    let path = Path(bytes: bytes)
    #expect(path.bytes == bytes)
    #expect(path.string == nil)
    #expect(path.withCString { Path(cString: $0) } == path)
  }

  @Test func `ends before a NUL`() {
    #expect(Path(bytes: [0x61, 0, 0x62]) == "a")
  }

  @Test func `one name in two spellings is two paths`() {
    let composed = Path("caf\u{E9}")
    let decomposed = Path("cafe\u{301}")
    #expect("caf\u{E9}" == "cafe\u{301}", "strings are equal by characters")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test func `is ordered by bytes`() {
    let paths: [Path] = ["b", "a/b", "a", "a.b", "\u{E9}"]
    #expect(paths.sorted() == ["a", "a.b", "a/b", "b", "\u{E9}"])
  }

  @Test(
    arguments: [
      ("/", nil, ""), ("/a", "/", "a"), ("/a/b", "/a", "b"), ("a", nil, "a"), ("a/b", "a", "b"),
      ("", nil, ""),
    ] as [(Path, Path?, String)])
  func `has a parent and a last component`(path: Path, parent: Path?, last: String) {
    #expect(path.parent == parent)
    #expect(path.lastComponent.elementsEqual(last.utf8))
  }

  @Test func `has its names as components`() {
    let names = Path("//a//b/").components.map { String(decoding: $0, as: UTF8.self) }
    #expect(names == ["a", "b"])
  }

  @Test(
    arguments: [
      ("/", "a", "/a"), ("/a", "b", "/a/b"), ("/a/", "b", "/a/b"), ("", "a", "a"),
      (".", "a", "./a"),
    ] as [(Path, String, Path)])
  func `is joined by one slash`(base: Path, name: String, joined: Path) {
    #expect(base.appending(name) == joined)
  }

  @Test(
    arguments: [
      ("/a", "/a", "."), ("/a/b", "/a", "b"), ("/a/b/c", "/a", "b/c"), ("/ab", "/a", nil),
      ("/a", "/a/b", nil), ("/a", "/", "a"), ("/", "/", "."), ("/a/b", "/a/", "b"),
      ("b", "/a", nil),
    ] as [(Path, Path, Path?)])
  func `a path is relative to an ancestor`(path: Path, ancestor: Path, relative: Path?) {
    #expect(path.relative(to: ancestor) == relative)
    #expect(path.isWithin(ancestor) == (relative != nil))
  }

  @Test(
    arguments: [
      ("a", "/b", "/b/a"), ("/a", "/b", "/a"), (".", "/b", "/b"), ("", "/b", "/b"),
      ("..", "/b/c", "/b"), ("../a", "/b", "/a"), ("../../..", "/b", "/"), ("a/../c", "/b", "/b/c"),
      ("/a//./b/", "/c", "/a/b"), ("./a/.", "/", "/a"), ("...", "/b", "/b/..."), ("/", "/b", "/"),
    ] as [(Path, Path, Path)])
  func `is made absolute by name`(path: Path, base: Path, absolute: Path) {
    #expect(path.absolute(from: base) == absolute)
  }

  @Test func `the description commands no terminal`() {
    #expect(Path("a\n\u{1B}]0;x\u{7}").description == "a\\n\\u{1B}]0;x\\u{07}")
    #expect(Path(bytes: [0x61, 0xFF]).description == "a\u{FFFD}")
  }

  @Test func `a path is shown relative to its directory, and in full elsewhere`() {
    #expect(Path("/a/b/c").shown(in: "/a") == "b/c")
    #expect(Path("/ab").shown(in: "/a") == "/ab")
  }

  @Test func `the lineage of a path ends at the top`() {
    #expect(Array(Path("/a/b").lineage) == ["/a/b", "/a", "/"])
    #expect(Array(Path("a/b").lineage) == ["a/b", "a"])
  }
}
