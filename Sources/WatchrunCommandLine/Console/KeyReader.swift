import ActionRunning
import Dispatch
import SystemCalls

/// Reads keys from the terminal, as long as it is ours, and notices when it has gone.
final class KeyReader: Sendable {
  private let keeper: TerminalController
  private let event: @Sendable (Event) -> Void

  enum Event: Hashable, Sendable {
    case key(Key)
    /// The terminal is gone.
    case hangUp
  }

  /// - Parameter event: Is called for each key, in order.
  init(_ keeper: TerminalController, event: @escaping @Sendable (Event) -> Void) {
    self.keeper = keeper
    self.event = event
  }

  /// Begins. True if keys can be read now; if the terminal is not ours, it may come to be.
  func start() throws(SystemError) -> Bool {
    let input = TypedInput(
      try TerminalInput(keeper.terminal, includesKeys: keeper.use == .keys))
    let source = DispatchSource.makeReadSource(
      fileDescriptor: input.events.number, queue: DispatchQueue(label: "watchrun.keys"))
    // The handler holds the source until it is cancelled.
    nonisolated(unsafe) let held = source
    source.setEventHandler { @Sendable [self] in
      input.events.acknowledge()
      if keeper.terminal.isGone {
        held.cancel()
        event(.hangUp)
      } else {
        read()
      }
    }
    source.setCancelHandler { @Sendable in withExtendedLifetime(input) {} }
    source.activate()
    return keeper.prepareForKeys()
  }

  /// Reads what has been typed, if that is for us.
  private func read() {
    let wasPrepared = keeper.isPrepared
    while keeper.prepareForKeys() {
      let bytes = keeper.terminal.typed()
      if bytes.isEmpty { return }
      // Until now a line had to be completed: its end asks for nothing.
      let isLine = !wasPrepared && bytes.last == UInt8(ascii: "\n")
      for key in Key.keys(in: isLine ? bytes.dropLast() : bytes) { event(.key(key)) }
    }
  }

  /// Closes the descriptor when nobody needs it any more.
  private final class TypedInput: Sendable {
    let events: TerminalInput

    init(_ events: consuming TerminalInput) {
      self.events = events
    }
  }
}
