import SystemCalls

/// How many cases the tests try that search for faults: all of them when `WATCHRUN_TEST_EFFORT` is `full`, as in
/// `.ci/run`, and otherwise a part, so that `swift test` remains quick.
package enum Effort {
  package static let isFull = environmentVariable("WATCHRUN_TEST_EFFORT") == "full"

  /// A number of cases, rounds or seeds.
  package static func count(_ full: Int, quick: Int) -> Int {
    isFull ? full : quick
  }
}
