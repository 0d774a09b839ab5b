@testable import FileObservation
@testable import Support
@testable import SystemCalls

/// A burst of changes, 0.1 ms apart, with its timers.
let debouncing = Benchmark(name: "debounce", operations: 1000) {
  return {
    var machine = DebounceStateMachine(quietPeriod: .adaptive, maximumWait: .seconds(1))
    var fired = 0
    for number in 0..<1000 {
      let now = Instant(offset: .microseconds(100 * number))
      if machine.changed(at: now, isBeingWritten: number % 2 == 0) == .fire { fired += 1 }
    }
    use(fired)
  }
}

/// Files that are truncated, written and closed: three events and one change each.
let coalescing = Benchmark(name: "coalesce", operations: 1000) {
  let paths = (0..<1000).map { Path("/project/Sources/Module\($0 % 40)/deep/\(fileName($0))") }
  let events = paths.flatMap { path in
    [true, true, false].map { RawEvent(path: path, kind: .modified(isOpen: $0), type: .file) }
  }
  return {
    var coalescer = Coalescer()
    for event in events { coalescer.note(event) }
    use(coalescer.take())
  }
}
