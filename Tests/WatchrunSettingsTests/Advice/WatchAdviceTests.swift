import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

struct WatchAdviceTests {
  @Test func `a path that does not exist is explained if it was meant otherwise`() throws {
    let directory = try TemporaryDirectory()
    try directory.write(to: "src")
    let lack = "no such path"
    let expected: [(Path, String?)] = [
      ("src,tests", "\(lack); give -w before each: -w src -w tests"),
      ("*.c", "\(lack), and -w takes no patterns; filter by one: -f '*.c'"),
      ("~/x", "\(lack); shells expand ~ only at the beginning of a word: -w ~/x"),
      ("missing", nil), ("a,b", nil),
    ]
    for (path, text) in expected {
      let explanation = WatchAdvice.explanation(of: path, in: directory.path)
      #expect(explanation == text.map { "cannot watch \(path): \($0)" })
    }
  }
}
