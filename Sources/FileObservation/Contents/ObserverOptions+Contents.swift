import Dispatch
import Support
import SystemCalls

extension ObserverOptions {
  /// What tells changes of content from others; nil if all count.
  func makeComparison() -> ContentComparison? {
    guard skipsUnchanged else { return nil }
    return ContentComparison(
      source: DiskContents(largestFile: contentLimits.largestFile),
      mostFiles: contentLimits.mostFiles, wanted: kinds)
  }

  /// What reads the files below `roots` before they change.
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
