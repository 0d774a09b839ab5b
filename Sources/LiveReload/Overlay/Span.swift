import Support

/// A part of a line with one style.
struct Span: Hashable, Sendable {
  var text: String
  var style = Style()
  /// The number of its editor link.
  var link: Int?

  /// Writes the span as an object with `t`, `c` unless it is plain, and `l` for a link.
  func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("t", text)
      let classes = style.classes
      if !classes.isEmpty { $0.member("c", classes) }
      if let link { $0.member("l", link) }
    }
  }
}

extension [Span] {
  /// The text without its style, as UTF-8.
  var plainText: [UInt8] { flatMap { [UInt8]($0.text.utf8) } }

  /// Writes the line as an array of spans.
  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for span in self { span.write(to: &writer) }
    }
  }

  /// Returns the line with links at these ranges of `plainText`, which must be in order and not
  /// overlap. A range that splits a character gets none.
  func linked(_ links: [(range: Range<Int>, link: Int)]) -> [Span] {
    var result: [Span] = []
    var offset = 0
    for span in self {
      let bytes = [UInt8](span.text.utf8)
      let end = offset + bytes.count
      var position = offset
      var pieces: [Span] = []
      func append(until bound: Int, _ link: Int?) {
        guard bound > position else { return }
        let part = bytes[(position - offset)..<(bound - offset)]
        var piece = span
        piece.text = String(decoding: part, as: UTF8.self)
        piece.link = link ?? span.link
        pieces.append(piece)
        position = bound
      }
      for (range, link) in links where range.lowerBound < end && range.upperBound > offset {
        append(until: Swift.max(range.lowerBound, offset), nil)
        append(until: Swift.min(range.upperBound, end), link)
      }
      append(until: end, nil)
      // A split character would be repaired to U+FFFD.
      let isWhole = pieces.map(\.text).joined().utf8.elementsEqual(bytes)
      result += isWhole ? pieces : [span]
      offset = end
    }
    return result
  }
}
