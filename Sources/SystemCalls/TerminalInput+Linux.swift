#if os(Linux)

/// Tells when more has been typed at a terminal, or when it has gone.
///
/// Somebody else may be meant to read it, and need not be quick about it: so what is told is that
/// something has come, once, and not that something is there.
package struct TerminalInput: ~Copyable {
  private let edges: Descriptor

  /// - Parameter includesKeys: False to be told of its going only.
  package init(_ terminal: Terminal, includesKeys: Bool) throws(SystemError) {
    let number = try checked("epoll_ctl") {
      csystem_edges_open(terminal.descriptor, includesKeys ? 1 : 0)
    }
    edges = Descriptor(owning: number)
  }

  /// Is readable when something has come; for a Dispatch source.
  package var number: Int32 { edges.number }

  /// What has come so far is known now.
  package func acknowledge() {
    csystem_silence(edges.number)
  }
}

#endif  // os(Linux)
