import Dispatch
import Support
import SystemCalls

extension ObserverOptions {
  /// Creates the comparison of contents; `nil` if every change is reported.
  func makeComparison() -> ContentComparison? {
    guard skipsUnchanged else { return nil }
    return ContentComparison(
      source: DiskContents(largestFile: contentLimits.largestFile),
      mostFiles: contentLimits.mostFiles, wanted: kinds)
  }

  /// Creates the reader of files that have not changed yet.
  func makeReadingAhead(
    of roots: [BackendConfiguration.Root], since start: FileTime, for comparison: ContentComparison
  ) -> ReadingAhead {
    let queue = DispatchQueue(label: "watchrun.contents.ahead", qos: .utility)
    return ReadingAhead(
      ReadAheadWalk(roots, filter: filter), since: start, atMost: contentLimits.mostBytesReadAhead,
      source: DiskContents(largestFile: contentLimits.largestFile), for: comparison, queue: queue,
      scheduler: DispatchScheduler(queue: queue))
  }
}
