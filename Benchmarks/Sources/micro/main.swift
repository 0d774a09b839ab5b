// micro NAME TIMES   runs a benchmark once to warm up, and then TIMES times to be counted
// micro              lists the benchmarks with their numbers of operations

let benchmarks =
  observing + [matching, debouncing, coalescing] + emitting

if let name = CommandLine.arguments.dropFirst().first {
  guard let benchmark = benchmarks.first(where: { $0.name == name }) else {
    fatalError("there is no benchmark \(name)")
  }
  let body = try benchmark.prepare()
  body()
  for _ in 0..<(CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1) {
    measured(body)
  }
} else {
  for benchmark in benchmarks { print(benchmark.name, benchmark.operations) }
}
