/// A limit of the number of tests that run at the same time, so that none starves.
package actor Turnstile {
  private var places: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(places: Int) {
    self.places = places
  }

  /// Calls `body` when there is a free place.
  package func pass<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async rethrows -> Result {
    await enter()
    defer { leave() }
    return try await body()
  }

  package func enter() async {
    if places > 0 {
      places -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  package func leave() {
    if waiting.isEmpty {
      places += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
