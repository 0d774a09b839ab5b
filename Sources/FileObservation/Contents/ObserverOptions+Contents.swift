extension ObserverOptions {
  /// Creates the comparison of contents; `nil` if every change is reported.
  func makeComparison() -> ContentComparison? {
    guard skipsUnchanged else { return nil }
    return ContentComparison(
      source: DiskContents(largestFile: contentLimits.largestFile),
      mostFiles: contentLimits.mostFiles, wanted: kinds)
  }
}
