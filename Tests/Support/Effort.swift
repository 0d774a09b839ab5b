import SystemCalls

/// The number of cases of randomized tests, and whether tests run that take many seconds: all of them if
/// `WATCHRUN_TEST_EFFORT` is `full`, as in `.ci/run`, and otherwise a part, so that `swift test` is fast.
package enum Effort {
  package static let isFull = environmentVariable("WATCHRUN_TEST_EFFORT") == "full"

  /// The first rows of a table whose rows are claims about one behaviour, or all of them.
  package static func rows<Row>(_ all: [Row], quick: Int) -> [Row] {
    isFull ? all : Array(all.prefix(quick))
  }

  /// A number of cases, rounds or seeds.
  package static func count(_ full: Int, quick: Int) -> Int {
    isFull ? full : quick
  }
}
