import Dispatch
import Support
import SystemCalls

/// Reads watched files in the background before they change, so that the first save of each can be
/// compared.
///
/// It reads directory by directory, at most half of the time, and up to a number of bytes.
package final class ReadingAhead: Sendable {
  private static let filesPerSlice = 64

  private struct Progress {
    var walk: ReadAheadWalk
    var bytesLeft: Int
  }

  private let start: FileTime
  private let source: any ContentSource
  private let comparison: ContentComparison
  private let scheduler: any Scheduler
  private let progress: Confined<Progress>

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - start: The start of observing. Only files that have not changed since are remembered.
  ///   - queue: The serial queue on which files are read.
  ///   - scheduler: The scheduler of that queue.
  package init(
    _ walk: ReadAheadWalk, since start: FileTime, atMost bytes: Int, source: any ContentSource,
    for comparison: ContentComparison, queue: DispatchQueue, scheduler: any Scheduler
  ) {
    self.start = start
    self.source = source
    self.comparison = comparison
    self.scheduler = scheduler
    progress = Confined(Progress(walk: walk, bytesLeft: bytes), to: queue)
  }

  /// Starts reading. Reading ends after the last file, or when the comparison is stopped.
  package func begin() {
    scheduleSlice(at: scheduler.now)
  }

  private func scheduleSlice(at time: Instant) {
    _ = scheduler.schedule(at: time) { self.readSlice() }
  }

  private func readSlice() {
    let began = scheduler.now
    let slice = progress.access { progress -> ReadAheadWalk.Slice? in
      if comparison.isStopped || progress.bytesLeft <= 0 { return nil }
      return progress.walk.next(atMost: Self.filesPerSlice)
    }
    guard let slice else { return }
    let samples = progress.access { progress in sample(slice.files, &progress.bytesLeft) }
    let pause = began.duration(to: scheduler.now)
    comparison.learn(samples, of: slice.directory, since: start, below: slice.root) {
      [self] hasRoom in
      if hasRoom { scheduleSlice(at: scheduler.now.advanced(by: pause)) }
    }
  }

  private func sample(
    _ files: [Path], _ bytesLeft: inout Int
  ) -> [(path: Path, sample: ContentSample)] {
    var samples: [(path: Path, sample: ContentSample)] = []
    for path in files where bytesLeft > 0 && !comparison.isStopped {
      // A file that has changed since the start would not be remembered.
      guard let stamp = source.stamp(of: path), stamp.changed < start,
        let sample = source.sample(of: path)
      else { continue }
      bytesLeft -= Int(clamping: sample.stamp.size)
      samples.append((path, sample))
    }
    return samples
  }
}
