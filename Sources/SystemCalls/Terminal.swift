/// A terminal, by a descriptor that somebody else owns.
package struct Terminal: Hashable, Sendable {
  package let descriptor: Int32

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// True if the descriptor is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }

  /// Makes the terminal of our session our standard input. False if we have none.
  package static func becomeStandardInput() -> Bool {
    guard let terminal = try? Descriptor.open("/dev/tty", O_RDWR) else { return false }
    return dup2(terminal.number, STDIN_FILENO) == STDIN_FILENO
  }

  /// The process group that its keys and signals go to; nil if it is not the terminal of our session.
  package var foregroundGroup: pid_t? {
    let group = tcgetpgrp(descriptor)
    return group > 0 ? group : nil
  }

  /// True if that is the group to which we belong. Who reads a terminal and is not in its foreground
  /// group is stopped.
  package var isOurs: Bool {
    foregroundGroup == getpgrp()
  }

  /// True if it has been hung up: its window is closed, its line is cut.
  package var isGone: Bool {
    var modes = termios()
    return tcgetattr(descriptor, &modes) == -1 && errno == EIO
  }

  /// Lets its keys and signals go to a group of our session.
  package func give(to group: pid_t) throws(SystemError) {
    _ = try withoutBeingStopped { () throws(SystemError) in
      try checked("tcsetpgrp") { tcsetpgrp(descriptor, group) }
    }
  }

  /// The modes that are in force.
  package func modes() throws(SystemError) -> TerminalModes {
    var modes = termios()
    _ = try checked("tcgetattr") { tcgetattr(descriptor, &modes) }
    return TerminalModes(raw: modes)
  }

  /// Discards what has been typed and not been read.
  package func discardInput() {
    _ = try? withoutBeingStopped { () throws(SystemError) in
      try checked("tcflush") { tcflush(descriptor, TCIFLUSH) }
    }
  }

  /// Puts other modes in force, at once. What has been typed is kept.
  package func setModes(_ modes: TerminalModes) throws(SystemError) {
    var modes = modes.raw
    _ = try withoutBeingStopped { () throws(SystemError) in
      try checked("tcsetattr") { tcsetattr(descriptor, TCSANOW, &modes) }
    }
  }

  /// Whoever changes a terminal from the background is stopped, unless the signal is blocked.
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

  /// What has been typed and can be read without waiting.
  package func typed() -> [UInt8] {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard retryingOnInterrupt({ poll(&waiting, 1, 0) }) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = retryingOnInterrupt { read(descriptor, &bytes, bytes.count) }
    return Array(bytes.prefix(max(0, count)))
  }
}

/// How a terminal treats what is typed and printed.
package struct TerminalModes: Sendable {
  var raw: termios

  /// These modes, but so that each key can be read at once and is not shown. Keys that send signals
  /// still do, and what is printed looks as before.
  package var forKeys: TerminalModes {
    var modes = self
    modes.raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    modes.setMinimum(1)
    return modes
  }
}

extension TerminalModes: Equatable {
  package static func == (left: TerminalModes, right: TerminalModes) -> Bool {
    left.raw.c_iflag == right.raw.c_iflag && left.raw.c_oflag == right.raw.c_oflag
      && left.raw.c_cflag == right.raw.c_cflag && left.raw.c_lflag == right.raw.c_lflag
      && left.controlCharacters == right.controlCharacters
  }

  private var controlCharacters: [UInt8] {
    withUnsafeBytes(of: raw.c_cc) { Array($0) }
  }

  /// For how many bytes a read waits, and that it does so without a limit of time.
  private mutating func setMinimum(_ count: UInt8) {
    withUnsafeMutableBytes(of: &raw.c_cc) { characters in
      characters[Int(VMIN)] = count
      characters[Int(VTIME)] = 0
    }
  }
}
