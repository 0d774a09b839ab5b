import Dispatch
import Support
import Synchronization
import SystemCalls

/// Removes from each burst the changes of files whose content is the same as before.
///
/// It reads files on a queue of its own, one burst after the other, so that batches keep their
/// order.
final class ContentComparison: Sendable {
  private let read: @Sendable (Path) -> ContentDigest?
  private let wanted: Set<ChangeBatch.Kind>
  private let queue = DispatchQueue(label: "watchrun.contents", qos: .userInitiated)
  private let memory: Confined<ContentMemory>
  private let stopped = Mutex(false)

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - mostFiles: The most files whose contents are remembered.
  ///   - wanted: The kinds of change that are reported.
  ///   - read: Reads a file; `nil` if that is not possible.
  init(
    mostFiles: Int, wanted: Set<ChangeBatch.Kind>,
    read: @escaping @Sendable (Path) -> ContentDigest?
  ) {
    self.read = read
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
          isStopped ? nil : read($0)
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
