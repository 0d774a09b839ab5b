extension Array {
  /// Grows eightfold when the capacity is reached. When many elements are appended one by one,
  /// copying costs more than capacity: the kernel only provides pages that are used.
  mutating func growIfNeeded(for newcomers: Int = 1) {
    if count + newcomers > capacity { reserveCapacity(count * 8 + newcomers) }
  }
}
