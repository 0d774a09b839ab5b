/// The callers of `flush`, which wait until every earlier change has been reported.
struct PendingFlushes {
  typealias Caller = @Sendable () -> Void

  private struct Flush {
    let caller: Caller
    /// The number of polls for it that have found changes.
    var polls = 0
  }

  /// The largest number of polls for one flush: the entries of a directory that replaced another
  /// are only compared in the next poll.
  private static let maximumPolls = 4

  private var waiting: [Flush] = []
  /// Those that wait for the current poll.
  private var polled: [Flush] = []

  /// Whether no caller waits, apart from those that wait for the current poll.
  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ caller: @escaping Caller) {
    waiting.append(Flush(caller: caller))
  }

  mutating func pollBegins() {
    polled += waiting
    waiting = []
  }

  /// After a poll that found changes, the callers that waited for it wait for another one.
  mutating func pollEnded(foundChanges: Bool) {
    if !foundChanges { return }
    for index in polled.indices { polled[index].polls += 1 }
    waiting = polled.filter { $0.polls < Self.maximumPolls } + waiting
    polled.removeAll { $0.polls < Self.maximumPolls }
  }

  /// The callers that waited for the poll that has ended.
  mutating func takePolled() -> [Caller] {
    defer { polled = [] }
    return polled.map(\.caller)
  }

  mutating func takeWaiting() -> [Caller] {
    defer { waiting = [] }
    return waiting.map(\.caller)
  }
}
