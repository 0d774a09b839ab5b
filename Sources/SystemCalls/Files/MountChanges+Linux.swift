#if os(Linux)

/// A descriptor that becomes readable whenever a file system has been mounted or unmounted in the namespace of this
/// process, until `takeChanges`. Used on one queue only.
package final class MountChanges: @unchecked Sendable {
  private let table: Descriptor
  private let edges: Descriptor
  private var mounts: Set<Mount>

  package init() throws(SystemError) {
    table = try Descriptor.open("/proc/self/mountinfo", O_RDONLY)
    let number = table.number
    // The kernel reports a change of the table as an error of the descriptor, once.
    edges = Descriptor(owning: try checked("epoll_create1") { csystem_edges_open(number, 0) })
    mounts = Set(presentMounts())
  }

  package var number: Int32 { edges.number }

  /// The paths of what was mounted or unmounted since the last call.
  package func takeChanges() -> Set<Path> {
    csystem_silence(edges.number)
    let before = mounts
    mounts = Set(presentMounts())
    return Set(before.symmetricDifference(mounts).map(\.point))
  }
}

#endif  // os(Linux)
