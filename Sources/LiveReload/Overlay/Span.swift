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

  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for span in self { span.write(to: &writer) }
    }
  }

  /// Returns the line with links at these ranges of `plainText`, which must be in order and not
  /// overlap. A range that splits a character gets none.
  func linked(_ links: [(range: Range<Int>, link: Int)]) -> [Span] {
    var start = 0
    return flatMap { span -> [Span] in
      let bytes = [UInt8](span.text.utf8)
      let whole = start..<start + bytes.count
      start = whole.upperBound
      let here = links.filter { $0.range.overlaps(whole) }
      let bounds = here.map { $0.range.clamped(to: whole) }
        .flatMap { [$0.lowerBound, $0.upperBound] }
      let cuts = [whole.lowerBound] + bounds + [whole.upperBound]
      let pieces = zip(cuts, cuts.dropFirst()).filter { $0 < $1 }.map { from, to in
        var piece = span
        let part = bytes[(from - whole.lowerBound)..<(to - whole.lowerBound)]
        piece.text = String(decoding: part, as: UTF8.self)
        piece.link = here.first { $0.range.contains(from) }?.link ?? span.link
        return piece
      }
      // A split character would be repaired to U+FFFD.
      return pieces.map(\.text).joined().utf8.elementsEqual(bytes) ? pieces : [span]
    }
  }
}
