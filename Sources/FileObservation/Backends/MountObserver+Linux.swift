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
    guard let table = try? MountTable() else { return nil }
    source = DispatchSource.makeReadSource(fileDescriptor: table.number, queue: queue)
    source.setEventHandler { @Sendable in
      let points = table.takeChanges()
      if !points.isEmpty { changed(points) }
    }
    // The descriptors must stay open until the source no longer uses them.
    source.setCancelHandler { @Sendable in withExtendedLifetime(table) {} }
    source.activate()
  }

  deinit { source.cancel() }
}

/// The mounts, of which the handlers of a Dispatch source take the changes, on the source's queue.
private final class MountTable: @unchecked Sendable {
  private let changes: MountChanges
  private var mounts: Set<Mount>

  init() throws(SystemError) {
    changes = try MountChanges()
    mounts = Set(presentMounts())
  }

  var number: Int32 { changes.number }

  /// The paths of what was mounted or unmounted since the last call.
  func takeChanges() -> Set<Path> {
    changes.silence()
    let before = mounts
    mounts = Set(presentMounts())
    return Set(before.symmetricDifference(mounts).map(\.point))
  }
}

#endif  // os(Linux)
