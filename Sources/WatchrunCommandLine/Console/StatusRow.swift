import ActionRunning
import Support
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
    var cursor = LineCursor()
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
    let (text, terminal) = (text, Terminal(descriptor))
    let columns = terminal.columns ?? 80
    try state.withLock { state throws(SystemError) in
      let wasDrawn = state.text != nil
      let written = Self.next(&state, bytes, text, columns)
      if wasDrawn != (state.text != nil) {
        guardian.withLock { $0 }?.process.rowIsDrawn(on: wasDrawn ? nil : terminal)
      }
      if !written.isEmpty { try writeAll(written, to: descriptor) }
    }
  }

  private static func next(
    _ state: inout State, _ bytes: [UInt8], _ wanted: [UInt8]?, _ columns: Int
  ) -> [UInt8] {
    state.cursor.advance(by: bytes, columns)
    // Any movement of the cursor would make the next character replace the last one.
    let text = state.cursor.isAtEdge(columns) ? nil : wanted
    if bytes.isEmpty && text == state.text { return [] }
    var all = state.text != nil ? erase : []
    if (state.text != nil) != (text != nil) { all += text == nil ? popTitle : pushTitle }
    all += bytes
    state.text = text
    guard let text else { return all }
    all += state.cursor.isInBlankLine ? save : makeRoom + save + below
    return all + text + restore
  }
}

/// Where the cursor is in the line that is written, as far as one can tell. A pure value.
struct LineCursor {
  private var column = 0
  private(set) var isInBlankLine = true
  private var parser = EscapeParser()

  /// Whether the last column of a row is written, and the next character begins another row.
  func isAtEdge(_ columns: Int) -> Bool { column > 0 && column % columns == 0 }

  mutating func advance(by bytes: [UInt8], _ columns: Int) {
    var rest = bytes[...]
    if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) {
      self = LineCursor()
      rest = bytes[(end + 1)...]
    }
    for scalar in String(decoding: rest, as: UTF8.self).unicodeScalars {
      switch parser.consume(scalar) {
      case .text:
        isInBlankLine = false
        let place = column % columns
        // A tab never leaves the row, and a wide character that does not fit into it begins the next one.
        let tab = min(8 - place % 8, columns - 1 - place)
        let width = scalar == "\t" ? tab : String(scalar).columns
        column += width + (place + width > columns ? columns - place : 0)
      case .carriageReturn: column = 0
      case .column(let number): column = number
      case .backspace: column = max(0, column - 1)
      default: break
      }
    }
  }
}
