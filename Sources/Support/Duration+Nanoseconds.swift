extension Duration {
  /// The duration in whole nanoseconds, clamped to the range of the result.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if isTooLong { return seconds < 0 ? .min : .max }
    let (sum, isOver) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isOver ? .max : sum
  }

  /// The duration in whole milliseconds, clamped to the range of the result.
  package var milliseconds: Int { Int(clamping: nanoseconds / 1_000_000) }
}
