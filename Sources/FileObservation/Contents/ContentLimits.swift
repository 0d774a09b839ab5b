/// How much is done to know whether a file's content has changed.
public struct ContentLimits: Sendable, Hashable {
  /// The largest file that is compared, in bytes; a change of a larger one always counts.
  public var largestFile: Int
  /// The most files whose contents are remembered, at about 100 bytes each. The files beyond that
  /// count once too often now and then.
  public var mostFiles: Int
  /// The most bytes that are read, once everything is watched, to know files before their first
  /// change.
  public var mostBytesReadAhead: Int

  /// These limits; by default files of up to 8 MiB, 65,536 of them, and 256 MiB ahead.
  public init(
    largestFile: Int = 8 << 20, mostFiles: Int = 1 << 16, mostBytesReadAhead: Int = 256 << 20
  ) {
    self.largestFile = largestFile
    self.mostFiles = mostFiles
    self.mostBytesReadAhead = mostBytesReadAhead
  }
}
