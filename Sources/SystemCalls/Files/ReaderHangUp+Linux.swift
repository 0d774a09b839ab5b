#if os(Linux)

/// A descriptor that becomes readable when the last reader of a pipe, or the peer of a socket, has closed it.
/// Nothing that is written or read in between makes it readable.
package struct ReaderHangUp: ~Copyable {
  private let edges: Descriptor

  package init(of descriptor: Int32) throws(SystemError) {
    guard isPipeOrSocket(descriptor) else { throw SystemError(call: "epoll_ctl", code: EPERM) }
    edges = Descriptor(
      owning: try checked("epoll_create1") { csystem_edges_open(descriptor, 0) })
  }

  /// The descriptor, for a Dispatch source that closes it.
  package consuming func release() -> Int32 { edges.release() }
}

#endif  // os(Linux)
