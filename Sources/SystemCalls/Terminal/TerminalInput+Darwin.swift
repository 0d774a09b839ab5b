#if canImport(Darwin)

/// A descriptor that is readable while a terminal has input or is hung up. The last reference closes it.
package final class TerminalInput: Sendable {
  private let copy: Descriptor

  /// - Parameter includesKeys: Must be true: a hang-up alone cannot be reported here.
  package init(_ terminal: Terminal, includesKeys: Bool) throws(SystemError) {
    if !includesKeys { throw SystemError(call: "kqueue", code: ENOTSUP) }
    let number = try checked("fcntl") { fcntl(terminal.descriptor, F_DUPFD_CLOEXEC, 0) }
    copy = Descriptor(owning: number)
  }

  /// The descriptor, for a Dispatch source.
  package var number: Int32 { copy.number }

  /// Not possible here: only a typed line is reported.
  package func reportActivity(_ isReported: Bool) {}

  /// Nothing to do here.
  package func acknowledge() {}
}

#endif  // canImport(Darwin)
