import SystemCalls
import Testing

struct PathNameTests {
  @Test(
    arguments: [
      ("/a/b.tar.gz", "b.tar.gz", "gz"), ("b", "b", nil), ("/a/.gitignore", ".gitignore", nil),
      ("/a/b.", "b.", ""), ("/", nil, nil), ("/a/", nil, nil),
    ] as [(Path, String?, String?)])
  func `a path has a name and an extension`(path: Path, name: String?, ending: String?) {
    #expect(path.name == name)
    #expect(path.extension == ending)
  }

  @Test func `a name that is not UTF-8 is no string`() {
    let path = Path(bytes: [0x2F, 0xFF, 0x2E, 0x63])
    #expect(path.name == nil)
    #expect(path.extension == "c")
  }

  @Test func `a slash appends a name`() {
    let path: Path = "/a"
    #expect(path / "b" == "/a/b")
  }
}
