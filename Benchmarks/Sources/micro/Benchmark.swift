/// Something that is done for each event or each entry.
struct Benchmark: Sendable {
  let name: String
  /// How many there are in one call of the body.
  let operations: Int
  /// Makes all that is needed, and gives what is to be counted, which may be called more than once.
  let prepare: @Sendable () throws -> () -> Void
}

/// Valgrind counts what is done in here, and finds it by its name.
@inline(never)
func measured(_ body: () -> Void) {
  body()
}

/// Keeps the optimizer from leaving out what nobody uses.
@inline(never)
@_optimize(none)
func use<Value>(_ value: borrowing Value) {}

/// Names of files like those in a project.
func fileName(_ number: Int) -> String {
  "Source\(number).\(["swift", "md", "json", "txt", "o"][number % 5])"
}
