import Testing

@testable import WatchrunCommandLine

struct FreshLineTests {
  private var line = FreshLine()

  private mutating func begins() -> Bool { !line.beginMessage(columns: 80).isEmpty }

  @Test mutating func `only a message after the output of a command needs a line of its own`() {
    #expect(!begins())
    line.commandBegins()
    #expect(begins())
    #expect(begins())
    line.commandEnds()
    #expect(begins())
    #expect(!begins())
  }

  @Test mutating func `without a width nothing is written`() {
    line.commandBegins()
    #expect(line.beginMessage(columns: nil).isEmpty)
  }

  /// The row and the text of a terminal after this text, from a column of a row.
  private func place(of text: [UInt8], from column: Int, columns: Int) -> (row: Int, column: Int) {
    var (row, column) = (0, column)
    for byte in text {
      switch byte {
      case UInt8(ascii: "\r"): column = 0
      case UInt8(ascii: " "):
        if column == columns { (row, column) = (row + 1, 0) }
        column += 1
      default: return (row, column)
      }
    }
    return (row, column)
  }

  @Test(arguments: 1...8)
  func `the cursor is at the beginning of this line or of the next`(column: Int) {
    let text = FreshLine.sequence(columns: 8)
    #expect(place(of: text, from: 0, columns: 8) == (0, 0))
    #expect(place(of: text, from: column, columns: 8) == (1, 0))
  }
}
