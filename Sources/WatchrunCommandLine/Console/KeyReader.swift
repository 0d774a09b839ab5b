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

  /// Starts reading; does not prepare the terminal for keys if a command that receives it starts now. Returns whether
  /// this process group is in the foreground; if it is not, keys are read as soon as it is.
  func start(prepares: Bool = true) throws(SystemError) -> Bool {
    let input = try TerminalInput(controller.terminal, includesKeys: controller.readsKeys)
    let queue = DispatchQueue(label: "watchrun.keys")
    let source = DispatchSource.makeReadSource(fileDescriptor: input.number, queue: queue)
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
    controller.whenHolderChanges { input.reportActivity($0 == .others) }
    if prepares || !controller.terminal.isForeground { return controller.take() }
    return false
  }

  private func receive(_ input: TerminalInput, _ cancel: () -> Void) {
    input.acknowledge()
    if controller.terminal.isGone {
      cancel()
      receiveKey(nil)
    } else {
      read()
    }
  }

  /// Ends a name that is being typed. May be called on any thread.
  func endName() { if let end = input.withLock({ $0.end() }) { receiveKey(end) } }

  /// Reads typed keys, if this process group is in the foreground.
  private func read() {
    let wasPrepared = controller.isPrepared
    if !wasPrepared { endName() }
    while controller.take() {
      let bytes = controller.terminal.typed()
      if bytes.isEmpty { return }
      // Until now the terminal delivered whole lines: the end of one is not the key Enter.
      let isLine = !wasPrepared && bytes.last == UInt8(ascii: "\n")
      let keys = input.withLock { $0.keys(in: isLine ? bytes.dropLast() : bytes) }
      for key in keys { receiveKey(key) }
    }
  }
}

/// What is typed: keys, and after `t` the name of a task, up to the key Enter. A pure state machine.
struct KeyInput {
  private static let maximumTyped = 8
  private static let escape: UInt8 = 0x1B

  private var name: [UInt8]?

  /// Returns the keys in bytes that were read at once. More than a few bytes are pasted text, and an escape
  /// character begins a function key.
  mutating func keys(in bytes: [UInt8]) -> [Key] {
    let isName = name != nil || bytes.starts(with: "t ".utf8)
    if !isName && (bytes.first == Self.escape || bytes.count > Self.maximumTyped) { return [] }
    var keys: [Key] = []
    for byte in bytes {
      if let typed = name {
        keys.append(consume(byte, typed))
        if byte == Self.escape { break }
      } else if let key = Key(byte) {
        if key == .typed("") { name = [] }
        keys.append(key)
      }
    }
    return keys
  }

  /// Ends a name that is not complete. Returns the key for it, if there is such a name.
  mutating func end() -> Key? {
    exchange(&name, with: nil).map { _ in .giveTerminal(nil) }
  }

  private mutating func consume(_ byte: UInt8, _ typed: [UInt8]) -> Key {
    switch byte {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
      name = nil
      let words = String(decoding: typed, as: UTF8.self).split(separator: " ")
      return .giveTerminal(words.joined(separator: " "))
    case 0x08,
      0x7F where !typed.isEmpty:
      // A character is removed as a whole.
      let text = String(decoding: typed, as: UTF8.self).dropLast()
      name = Array(text.utf8)
    case 0..<0x20, 0x7F:
      name = nil
      return .giveTerminal(nil)
    case 0x20 where typed.isEmpty: break
    default: name = typed + [byte]
    }
    return .typed(String(decoding: name ?? [], as: UTF8.self))
  }
}
