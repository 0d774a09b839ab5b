/// A line and a column, both counted from 1.
///
/// Columns count Unicode scalars, as editors do. A byte order mark is not counted.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
  package var line = 1
  package var column = 1

  /// Finds the position of a byte in a text.
  package init(_ offset: Int, in text: [UInt8]) {
    let before = text.prefix(offset)
    var lineStart = min(text.withoutByteOrderMark.startIndex, before.count)
    for (index, byte) in before.enumerated() {
      let endsLine =
        byte == UInt8(ascii: "\n")
        || (byte == UInt8(ascii: "\r") && text.dropFirst(index + 1).first != UInt8(ascii: "\n"))
      if endsLine {
        line += 1
        lineStart = index + 1
      }
    }
    column = String(decoding: before[lineStart...], as: UTF8.self).unicodeScalars.count + 1
  }

  package var description: String { "\(line):\(column)" }
}
