#if os(Linux)

import Dispatch
import SystemCalls

/// Reports the paths at which file systems are mounted or unmounted. The watch of a directory that is covered by one
/// has no event.
final class MountObserver {
  private let source: any DispatchSourceRead

  /// `nil` where the kernel does not tell.
  ///
  /// - Parameter changed: Called on the queue.
  init?(on queue: DispatchQueue, changed: @escaping @Sendable (Set<Path>) -> Void) {
    guard let changes = try? MountChanges() else { return nil }
    source = DispatchSource.makeReadSource(fileDescriptor: changes.number, queue: queue)
    source.setEventHandler { @Sendable in
      let points = changes.takeChanges()
      if !points.isEmpty { changed(points) }
    }
    // The descriptors must stay open until the source no longer uses them.
    source.setCancelHandler { @Sendable in withExtendedLifetime(changes) {} }
    source.activate()
  }

  deinit { source.cancel() }
}

#endif  // os(Linux)
