/// An operation that is done for each event or entry.
struct Benchmark: Sendable {
  let name: String
  /// The number of operations in one call of the body.
  let operations: Int
  /// Prepares the benchmark, and returns the body to count, which may be called more than once.
  let prepare: @Sendable () throws -> () -> Void
}

/// Valgrind counts the instructions in this function, which it finds by name.
@inline(never)
func measured(_ body: () -> Void) {
  body()
}

/// Prevents the optimizer from removing an unused value.
@inline(never)
@_optimize(none)
func use<Value>(_ value: borrowing Value) {}

/// A file name like those in a project.
func fileName(_ number: Int) -> String {
  "Source\(number).\(["swift", "md", "json", "txt", "o"][number % 5])"
}
