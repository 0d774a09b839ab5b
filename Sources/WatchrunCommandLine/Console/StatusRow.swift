import ActionRunning
import Synchronization
import SystemCalls

/// The last row of a terminal, below everything else that is written there. All writers of the terminal share it.
///
/// It has no region of its own, so that what scrolls off stays in the scrollback: it is erased before each write,
/// and drawn again below the cursor.
final class StatusRow: Sendable {
  private struct State {
    /// The text that is drawn.
    var text: [UInt8]?
    /// Whether the cursor is at the beginning of a line.
    var isAtLineStart = true
  }

  private static let erase = Array("\u{1B}[J".utf8)
  private static let save = Array("\u{1B}7".utf8)
  private static let restore = Array("\u{1B}8".utf8)
  /// Moves the cursor down, scrolling if it must, and back up: there is a row below it then.
  private static let makeRoom = Array("\u{1B}D\u{1B}[A".utf8)
  // The title of the terminal is kept, and restored.
  private static let pushTitle = Array("\u{1B}[22;2t".utf8)
  private static let popTitle = Array("\u{1B}[23;2t".utf8)
  private static let below = Array("\u{1B}D\r".utf8)

  private let state = Mutex(State())
  /// The text to draw; apart from the state, which is locked while a terminal accepts nothing.
  private let wanted = Mutex<[UInt8]?>(nil)

  /// Erases the row if this process is killed.
  let guardian = Mutex<Guardian?>(nil)

  /// The text, of less than a row. It is drawn with the next write, which may be one of nothing.
  var text: [UInt8]? {
    get { wanted.withLock { $0 } }
    set { wanted.withLock { $0 = newValue } }
  }

  /// Sets the title of the terminal, as a part of the text.
  static func title(_ text: String) -> [UInt8] { Array("\u{1B}]2;\(text)\u{7}".utf8) }

  /// Writes above the row.
  func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    let text = text
    try state.withLock { state throws(SystemError) in
      let wasDrawn = state.text != nil
      let written = Self.next(&state, bytes, text)
      if wasDrawn != (text != nil) {
        guardian.withLock { $0 }?.process.rowIsDrawn(on: text.map { _ in Terminal(descriptor) })
      }
      if !written.isEmpty { try writeAll(written, to: descriptor) }
    }
  }

  private static func next(_ state: inout State, _ bytes: [UInt8], _ text: [UInt8]?) -> [UInt8] {
    if bytes.isEmpty && text == state.text { return [] }
    var all = state.text != nil ? erase : []
    if (state.text != nil) != (text != nil) { all += text == nil ? popTitle : pushTitle }
    all += bytes
    // A bell, and a sequence that ends with one, moves nothing.
    if let last = bytes.last, last != 0x07 { state.isAtLineStart = last == UInt8(ascii: "\n") }
    state.text = text
    guard let text else { return all }
    all += state.isAtLineStart ? save : makeRoom + save + below
    return all + text + restore
  }
}
