/// The destinations of renames whose hints have not been read yet. Events are reported once they
/// are known, since both belong to one batch.
struct AwaitedArrivals {
  /// The cookies of renames of which only the first hint was read.
  private var cookies: Set<UInt32> = []
  /// Whether a renamed entry may have been renamed again before it was compared.
  private var isLateArrivalExpected = false

  var isEmpty: Bool { cookies.isEmpty && !isLateArrivalExpected }

  /// Begins to process hints, which include those of late arrivals.
  mutating func beginProcessing() {
    isLateArrivalExpected = false
  }

  mutating func expectLateArrival() {
    isLateArrivalExpected = true
  }

  mutating func departed(_ cookie: UInt32) {
    cookies.insert(cookie)
  }

  mutating func arrived(_ cookie: UInt32) {
    if !cookies.isEmpty { cookies.remove(cookie) }
  }
}
