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

  @Test mutating func `a place keeps its number`() {
    #expect(links(in: "a.c:1:2: x, b.c:3") == [1, 2])
    #expect(links(in: "a.c:1:2, a.c:1, a.c:1:3") == [1, 3, 4])
    #expect(table[1] == LinkTable.Target(path: "a.c", line: 1, column: 2))
  }

  @Test mutating func `a place that is shown again is not forgotten`() {
    _ = links(in: "kept.c:1")
    _ = links(in: "dropped.c:1")
    for line in 1...4000 {
      _ = links(in: "a.c:\(line)")
      let kept = links(in: "kept.c:1")
      guard kept.count == 1, table[kept[0]]?.path == "kept.c" else {
        Issue.record("forgotten after \(line) other places")
        return
      }
    }
    #expect(table[2] == nil)
    #expect(links(in: "dropped.c:1").allSatisfy { $0 > 4000 })
  }
}
