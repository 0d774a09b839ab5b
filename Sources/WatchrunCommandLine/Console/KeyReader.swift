import ActionRunning
import Dispatch
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Reads keys from the terminal while this process group is in its foreground, and reports when the terminal
/// has hung up.
final class KeyReader: Sendable {
  private let controller: TerminalController
  private let input = Mutex(KeyInput())
  private let event: @Sendable (Event) -> Void

  enum Event: Hashable, Sendable {
    case key(Key)
    case hangUp
  }

  /// - Parameter event: Called on a queue of the reader for each key, in order.
  init(_ controller: TerminalController, event: @escaping @Sendable (Event) -> Void) {
    self.controller = controller
    self.event = event
  }

  /// Starts reading. Returns whether this process group is in the foreground; if it is not, keys are read as
  /// soon as it is.
  ///
  /// - Parameter prepares: False if a command that receives the terminal starts now.
  func start(prepares: Bool = true) throws(SystemError) -> Bool {
    let input = TypedInput(
      try TerminalInput(controller.terminal, includesKeys: controller.readsKeys))
    let source = DispatchSource.makeReadSource(
      fileDescriptor: input.events.number, queue: DispatchQueue(label: "watchrun.keys"))
    source.setCancelHandler { @Sendable in withExtendedLifetime(input) {} }
    source.activateRetained { [self] cancel in
      input.events.acknowledge()
      if controller.terminal.isGone {
        cancel()
        event(.hangUp)
      } else {
        read()
      }
    }
    return prepares && controller.prepareForKeys()
  }

  /// Reads typed keys, if this process group is in the foreground.
  private func read() {
    let wasPrepared = controller.isPrepared
    if !wasPrepared, let end = input.withLock({ $0.end() }) { event(.key(end)) }
    while controller.prepareForKeys() {
      let bytes = controller.terminal.typed()
      if bytes.isEmpty { return }
      // Until now the terminal delivered whole lines: the end of one is not the key Enter.
      let isLine = !wasPrepared && bytes.last == UInt8(ascii: "\n")
      let keys = input.withLock { $0.keys(in: isLine ? bytes.dropLast() : bytes) }
      for key in keys { event(.key(key)) }
    }
  }

  /// Owns the descriptor, and closes it with its last reference.
  private final class TypedInput: Sendable {
    let events: TerminalInput

    init(_ events: consuming TerminalInput) {
      self.events = events
    }
  }
}
