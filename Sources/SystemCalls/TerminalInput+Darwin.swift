#if canImport(Darwin)

/// Tells when something has been typed at a terminal, or when it has gone.
package struct TerminalInput: ~Copyable {
  private let copy: Descriptor

  /// - Parameter includesKeys: False where keys are for somebody else. To tell only of its going is not
  ///   possible here, so then nothing is told.
  package init(_ terminal: Terminal, includesKeys: Bool) throws(SystemError) {
    if !includesKeys { throw SystemError(call: "kqueue", code: ENOTSUP) }
    let number = try checked("fcntl") { fcntl(terminal.descriptor, F_DUPFD_CLOEXEC, 0) }
    copy = Descriptor(owning: number)
  }

  /// Is readable as long as something is there; for a Dispatch source.
  package var number: Int32 { copy.number }

  /// Nothing to do here.
  package func acknowledge() {}
}

#endif  // canImport(Darwin)
