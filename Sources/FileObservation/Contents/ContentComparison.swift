import Dispatch
import Support
import Synchronization
import SystemCalls

/// Leaves out of each burst the files whose content is the same as before. Reads them on a queue of
/// its own, one burst after the other, so that batches keep their order.
package final class ContentComparison: Sendable {
  private let source: any ContentSource
  private let wanted: Set<ChangeBatch.Kind>
  private let queue = DispatchQueue(label: "watchrun.contents", qos: .userInitiated)
  private let memory: Confined<ContentMemory>
  private let stopped = Mutex(false)

  /// - Parameter wanted: The kinds of change that are told of.
  package init(source: any ContentSource, mostFiles: Int, wanted: Set<ChangeBatch.Kind>) {
    self.source = source
    self.wanted = wanted
    memory = Confined(ContentMemory(mostFiles: mostFiles), to: queue)
  }

  package var isStopped: Bool { stopped.withLock { $0 } }

  /// Nothing is read any more but the file that is being read, and nothing is handed over.
  package func stop() {
    stopped.withLock { $0 = true }
  }

  /// Calls `then`, on the comparison's queue, with those of a burst's net changes that count.
  package func follow(
    _ changes: [ChangeBatch.Change], then: @escaping @Sendable ([ChangeBatch.Change]) -> Void
  ) {
    queue.async { [self] in
      let counting = memory.access { memory in
        memory.follow(changes, wanted: wanted) { isStopped ? nil : source.sample(of: $0)?.digest }
      }
      if !isStopped { then(counting) }
    }
  }

  /// Calls `done`, on the comparison's queue, after every burst that was given before.
  func flush(then done: @escaping @Sendable () -> Void) {
    queue.async { done() }
  }

  /// Remembers files of one folder that were read ahead; `then` is told, on the comparison's
  /// queue, whether there is room for more.
  package func learn(
    _ samples: [(path: Path, sample: ContentSample)], of folder: Path, since start: FileTime,
    below root: DirectoryAtStart? = nil,
    then: @escaping @Sendable (_ hasRoom: Bool) -> Void
  ) {
    queue.async { [self] in
      let isFull = memory.access { memory in
        memory.learn(samples, of: folder, since: start, below: root, from: source)
        return memory.isFull
      }
      then(!isFull && !isStopped)
    }
  }

  /// Tells, on the comparison's queue, how many files are known.
  func count(_ body: @escaping @Sendable (Int) -> Void) {
    queue.async { [self] in body(memory.access { $0.count }) }
  }
}
