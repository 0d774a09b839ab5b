import Dispatch
import Support
import Synchronization
import SystemCalls

/// Removes from each burst the changes of files whose content is the same as before.
///
/// It reads files on a queue of its own, one burst after the other, so that batches keep their
/// order.
final class ContentComparison: Sendable {
  private let source: any ContentSource
  private let wanted: Set<ChangeBatch.Kind>
  private let queue = DispatchQueue(label: "watchrun.contents", qos: .userInitiated)
  private let memory: Confined<ContentMemory>
  private let stopped = Mutex(false)

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - mostFiles: The most files whose contents are remembered.
  ///   - wanted: The kinds of change that are reported.
  init(source: any ContentSource, mostFiles: Int, wanted: Set<ChangeBatch.Kind>) {
    self.source = source
    self.wanted = wanted
    memory = Confined(ContentMemory(mostFiles: mostFiles), to: queue)
  }

  private var isStopped: Bool { stopped.withLock { $0 } }

  /// Stops reading after the present file. No completion handler of `filterUnchanged` is called any
  /// more.
  func stop() {
    stopped.withLock { $0 = true }
  }

  /// Calls `then`, on the comparison's queue, with the net changes of a burst that remain.
  func filterUnchanged(
    _ changes: [ChangeBatch.Change], then: @escaping @Sendable ([ChangeBatch.Change]) -> Void
  ) {
    queue.async { [self] in
      let remaining = memory.access { memory in
        memory.filterUnchanged(changes, wanted: wanted) {
          isStopped ? nil : source.sample(of: $0)?.digest
        }
      }
      if !isStopped { then(remaining) }
    }
  }

  /// Calls `done`, on the comparison's queue, after all bursts that were passed before.
  func flush(then done: @escaping @Sendable () -> Void) {
    queue.async { done() }
  }
}
