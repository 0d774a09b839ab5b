// micro NAME TIMES   does one thing that is hot, once to warm up, and so often to be counted
// micro              lists them, with how many operations each does

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
