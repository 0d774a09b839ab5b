/// The callers of `flush`, which wait until every earlier change has been reported.
struct PendingFlushes {
  typealias Caller = @Sendable () -> Void

  /// The largest number of polls for one flush: the entries of a directory that replaced another
  /// are only compared in the next poll.
  private static let maximumPolls = 3

  private var waiting: [Caller] = []
  /// The callers that wait for the current poll.
  private var polled: [Caller] = []
  private var polls = 0

  /// Whether no caller waits, apart from those that wait for the current poll.
  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ caller: @escaping Caller) {
    waiting.append(caller)
  }

  mutating func pollBegins() {
    polled += waiting
    waiting = []
  }

  /// After a poll that found changes, the callers wait for another one.
  mutating func pollEnded(foundChanges: Bool) {
    let isComplete = !foundChanges || polls >= Self.maximumPolls
    polls = isComplete ? 0 : polls + 1
    if isComplete { return }
    waiting = polled + waiting
    polled = []
  }

  /// The callers that waited for the poll that has ended.
  mutating func takePolled() -> [Caller] {
    defer { polled = [] }
    return polled
  }

  mutating func takeWaiting() -> [Caller] {
    defer { waiting = [] }
    return waiting
  }
}
