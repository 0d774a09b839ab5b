/// Where the values of a JSON5 text stand. The toolchain's decoder says what they are, and not where;
/// nor does it say where a text is broken.
struct JSONPlaces: Hashable, Sendable {
  /// A value: a thing, a list or a table.
  struct Place: Hashable, Sendable {
    /// The text's bytes that make it up.
    var range: Range<Int>
    /// What is in a table, in the order of the text.
    var members: [Member] = []
    /// What is in a list.
    var elements: [Place] = []
  }

  /// A key and what stands behind it.
  struct Member: Hashable, Sendable {
    var key: String
    var keyOffset: Int
    var value: Place
  }

  /// Why a text is no JSON5.
  struct Fault: Error, Hashable {
    var offset: Int
    var message: String
  }

  /// The value that the text is.
  let top: Place

  init(_ text: [UInt8]) throws(Fault) {
    var scanner = JSONScanner(text)
    top = try scanner.scan()
  }
}

/// A line and a column, both counted from 1; columns in characters of Unicode, as editors count them: a
/// byte order mark is none.
struct TextPosition: Hashable, Sendable, CustomStringConvertible {
  var line = 1
  var column = 1

  /// Where a byte of the text is.
  init(_ offset: Int, in text: [UInt8]) {
    let before = text.prefix(offset)
    var lineStart = min(JSONScanner.start(of: text), before.count)
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

  var description: String { "\(line):\(column)" }
}
