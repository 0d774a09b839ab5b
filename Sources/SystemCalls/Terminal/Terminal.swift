/// A terminal, by a descriptor that it does not own.
package struct Terminal: Hashable, Sendable {
  package let descriptor: Int32

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Whether the descriptor is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }

  /// The numbers of columns and rows.
  package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }
  }

  /// The size; `nil` if it is not known.
  package var size: Size? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// Sets the size of a pseudo-terminal.
  package func setSize(_ size: Size) {
    _ = csystem_set_size(descriptor, Int32(size.columns), Int32(size.rows))
  }

  /// The number of columns; `nil` if it is not known.
  package var columns: Int? { size?.columns }

  /// Makes the session's terminal the standard input. Returns false if the session has none.
  package static func becomeStandardInput() -> Bool {
    guard let terminal = try? Descriptor.open("/dev/tty", O_RDWR) else { return false }
    return dup2(terminal.number, STDIN_FILENO) == STDIN_FILENO
  }

  /// The foreground process group; `nil` if this is not the terminal of this process's session.
  package var foregroundGroup: pid_t? {
    let group = tcgetpgrp(descriptor)
    return group > 0 ? group : nil
  }

  /// Whether this process is in the foreground group. A process of another group is suspended when it reads
  /// the terminal.
  package var isForeground: Bool {
    foregroundGroup == getpgrp()
  }

  /// Whether the terminal was hung up, as by closing its window.
  package var isGone: Bool {
    var modes = termios()
    return tcgetattr(descriptor, &modes) == -1 && errno == EIO
  }

  /// Makes a group of this session the foreground group.
  package func give(to group: pid_t) throws(SystemError) {
    _ = try withoutBeingStopped { () throws(SystemError) in
      try checked("tcsetpgrp") { tcsetpgrp(descriptor, group) }
    }
  }

  /// Makes reads and writes wait, also those of the programs that share the terminal.
  package func makeBlocking() {
    let flags = fcntl(descriptor, F_GETFL)
    if flags & O_NONBLOCK != 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
  }

  /// The current modes.
  package func modes() throws(SystemError) -> TerminalModes {
    var modes = termios()
    _ = try checked("tcgetattr") { tcgetattr(descriptor, &modes) }
    return TerminalModes(raw: modes)
  }

  /// Discards unread input.
  package func discardInput() {
    _ = try? withoutBeingStopped { () throws(SystemError) in
      try checked("tcflush") { tcflush(descriptor, TCIFLUSH) }
    }
  }

  /// Sets the modes at once, and keeps unread input.
  package func setModes(_ modes: TerminalModes) throws(SystemError) {
    var modes = modes.raw
    _ = try withoutBeingStopped { () throws(SystemError) in
      try checked("tcsetattr") { tcsetattr(descriptor, TCSANOW, &modes) }
    }
  }

  /// A process that changes its terminal from the background is suspended unless SIGTTOU is blocked.
  private func withoutBeingStopped<Result>(
    _ body: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    var stopping = sigset_t()
    var before = sigset_t()
    sigemptyset(&stopping)
    sigaddset(&stopping, SIGTTOU)
    pthread_sigmask(SIG_BLOCK, &stopping, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return try body()
  }

  /// The input that can be read without blocking.
  package func typed() -> [UInt8] {
    guard (try? LocalSocket.wait(for: descriptor, atMost: .zero)) == true,
      case .bytes(let bytes) = readAvailable(descriptor, atMost: 64)
    else { return [] }
    return bytes
  }
}
