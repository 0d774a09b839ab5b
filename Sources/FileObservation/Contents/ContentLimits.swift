/// Limits of the memory and the reading that ``ObserverOptions/skipsUnchanged`` may use.
public struct ContentLimits: Sendable, Hashable {
  /// The size of the largest file that is compared, in bytes. A change of a larger file is always
  /// reported.
  public var largestFile: Int
  /// The most files whose contents are remembered, at about 100 bytes each. Files beyond that may
  /// be reported although their content is the same.
  public var mostFiles: Int

  /// Creates limits; by default files of up to 8 MiB, and 65,536 files.
  public init(largestFile: Int = 8 << 20, mostFiles: Int = 1 << 16) {
    self.largestFile = largestFile
    self.mostFiles = mostFiles
  }
}
