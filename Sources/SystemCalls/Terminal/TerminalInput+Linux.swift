#if os(Linux)

/// A descriptor that becomes readable when a terminal has new input or is hung up.
///
/// Another process may read the input, at any time. So each arrival is reported once, not the presence of
/// unread input. The last reference closes it.
package final class TerminalInput: Sendable {
  private let edges: Descriptor
  private let terminal: Terminal
  private let includesKeys: Bool

  /// - Parameter includesKeys: False to report only that the terminal is hung up.
  package init(_ terminal: Terminal, includesKeys: Bool) throws(SystemError) {
    let number = try checked("epoll_ctl") {
      csystem_edges_open(terminal.descriptor, includesKeys ? 1 : 0)
    }
    edges = Descriptor(owning: number)
    self.terminal = terminal
    self.includesKeys = includesKeys
  }

  /// The descriptor, for a Dispatch source.
  package var number: Int32 { edges.number }

  /// Makes the descriptor become readable, or not, also at once and at each use of the terminal: output, the echo
  /// of a key, a change of the modes.
  package func reportActivity(_ isReported: Bool) {
    _ = csystem_edges_set(
      edges.number, terminal.descriptor, includesKeys ? 1 : 0, isReported ? 1 : 0)
  }

  /// Makes the descriptor unreadable until more arrives.
  package func acknowledge() {
    csystem_silence(edges.number)
  }
}

#endif  // os(Linux)
