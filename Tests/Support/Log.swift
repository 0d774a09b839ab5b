import Synchronization

/// A thread-safe log of events, in order.
package final class Log<Entry: Sendable>: Sendable {
  private let noted = Mutex<[Entry]>([])

  package init() {}

  package func note(_ entry: Entry) {
    noted.withLock { $0.append(entry) }
  }

  package var entries: [Entry] { noted.withLock { $0 } }
}
