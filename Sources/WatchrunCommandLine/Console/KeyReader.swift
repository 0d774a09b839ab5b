import ActionRunning
import Dispatch
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Reads keys from the terminal while this process group is in its foreground, notices when it is brought there,
/// and reports when the terminal has hung up.
final class KeyReader: Sendable {
  /// How long to ignore the use of the terminal by the group that has it. A shell writes the name of the job that it
  /// brings to the foreground, and then does so.
  private static let backgroundPause = DispatchTimeInterval.milliseconds(100)

  private let controller: TerminalController
  private let input = Mutex(KeyInput())
  private let receiveKey: @Sendable (Key?) -> Void

  /// - Parameter receiveKey: Called on a queue of the reader for each key, in order; with `nil` after a hang-up.
  init(_ controller: TerminalController, receiveKey: @escaping @Sendable (Key?) -> Void) {
    (self.controller, self.receiveKey) = (controller, receiveKey)
  }

  /// Starts reading. Returns whether this process group is in the foreground; if it is not, keys are read as
  /// soon as it is.
  ///
  /// - Parameter prepares: False if a command that receives the terminal starts now.
  func start(prepares: Bool = true) throws(SystemError) -> Bool {
    let input = TypedInput(
      try TerminalInput(controller.terminal, includesKeys: controller.readsKeys))
    let queue = DispatchQueue(label: "watchrun.keys")
    let source = DispatchSource.makeReadSource(fileDescriptor: input.events.number, queue: queue)
    source.setCancelHandler { @Sendable in withExtendedLifetime(input) {} }
    // Dispatch documents that sources may be used on any thread, but their types are not Sendable.
    nonisolated(unsafe) let suspended = source
    source.activateRetained { [self] cancel in
      receive(input, cancel)
      if suspended.isCancelled || !controller.isInBackground { return }
      suspended.suspend()
      queue.asyncAfter(deadline: .now() + Self.backgroundPause) { [self] in
        receive(input) { suspended.cancel() }
        suspended.resume()
      }
    }
    controller.whenBackgroundChanges { input.events.reportActivity($0) }
    if prepares || !controller.terminal.isForeground { return controller.take() == .keys }
    return false
  }

  private func receive(_ input: TypedInput, _ cancel: () -> Void) {
    input.events.acknowledge()
    if controller.terminal.isGone {
      cancel()
      receiveKey(nil)
    } else {
      read()
    }
  }

  /// Reads typed keys, if this process group is in the foreground.
  private func read() {
    let wasPrepared = controller.isPrepared
    if !wasPrepared, let end = input.withLock({ $0.end() }) { receiveKey(end) }
    while controller.take() == .keys {
      let bytes = controller.terminal.typed()
      if bytes.isEmpty { return }
      // Until now the terminal delivered whole lines: the end of one is not the key Enter.
      let isLine = !wasPrepared && bytes.last == UInt8(ascii: "\n")
      let keys = input.withLock { $0.keys(in: isLine ? bytes.dropLast() : bytes) }
      for key in keys { receiveKey(key) }
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
