#if os(Linux)

/// A descriptor that becomes readable whenever a file system has been mounted or unmounted in the namespace of this
/// process, until `silence`.
package struct MountChanges: ~Copyable {
  private let table: Descriptor
  private let edges: Descriptor

  package init() throws(SystemError) {
    let table = try Descriptor.open("/proc/self/mountinfo", O_RDONLY)
    let number = table.number
    // The kernel reports a change of the table as an error of the descriptor, once.
    let edges = try checked("epoll_create1") { csystem_edges_open(number, 0) }
    self.table = table
    self.edges = Descriptor(owning: edges)
  }

  package var number: Int32 { edges.number }

  /// Makes the descriptor unreadable until the next change.
  package func silence() { csystem_silence(edges.number) }
}

#endif  // os(Linux)
