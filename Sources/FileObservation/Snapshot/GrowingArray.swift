extension Array {
  /// Where a walk adds element by element, what an array moves when it grows costs more than what it
  /// holds: each page is given by the kernel twice. Room that is not used is never given, so there may be
  /// much of it.
  mutating func makeRoom(for newcomers: Int = 1) {
    if count + newcomers > capacity { reserveCapacity(count * 8 + newcomers) }
  }
}
