import SystemCalls
import Testing

@testable import LiveReload

struct LinkTableTests {
  private var table = LinkTable()

  /// The numbers of the links in a line.
  private mutating func links(in text: String) -> [Int] {
    let lines = table.link([[Span(text: text)]]) { Path($0) }
    return lines.joined().compactMap(\.link)
  }

  @Test mutating func `a source location keeps its number`() {
    #expect(links(in: "a.c:1:2: x, b.c:3") == [1, 2])
    #expect(links(in: "a.c:1:2, a.c:1, a.c:1:3") == [1, 3, 4])
    #expect(table[1] == LinkTable.Target(path: "a.c", line: 1, column: 2))
  }

  @Test mutating func `a source location that is shown repeatedly stays valid`() throws {
    _ = links(in: "dropped.c:1")
    for round in 0..<5 {
      let kept = try #require(links(in: "kept.c:1").first)
      for line in 1...900 { _ = links(in: "a\(round).c:\(line)") }
      #expect(table[kept]?.path == "kept.c")
    }
    #expect(table[1] == nil)
    let number = try #require(links(in: "dropped.c:1").first)
    #expect(number > 4500 && table[number]?.path == "dropped.c")
  }
}
