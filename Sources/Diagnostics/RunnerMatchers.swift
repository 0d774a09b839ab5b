import Support
import SystemCalls

// The forms of test runners that number what has failed, or mark it.

extension DiagnosticReader {
  /// What follows the number of a failure, as in `  1) Calc adds`.
  private func numbered(_ index: Int) -> OutputLine? {
    let line = self.line(index).trimmed
    let rest = line.drop(while: \.isDigitASCII)
    return rest.startIndex > line.startIndex ? rest.dropping(") ") : nil
  }

  /// The nearest line above with a numbered failure.
  private func failure(above index: Int) -> (index: Int, title: OutputLine)? {
    for back in 1...60 {
      if let title = numbered(index - back) { return (index - back, title) }
    }
    return nil
  }

  /// `     test/a_test.exs:4` below `  1) test adds (DemoTest)`, then what has failed and `stacktrace:`.
  mutating func exUnit(_ index: Int) -> Int? {
    guard let title = numbered(index - 1), let header = places(index).first,
      header.path.bytes[...].ends(with: ".exs")
    else { return nil }
    var message = title.message + ": " + line(index + 1).message
    var place: SourceLocation?
    var next = index + 2
    while next < index + 60, !line(next).isBlank {
      let text = line(next).trimmed
      if text.begins(with: "left: ") || text.begins(with: "right: ") {
        message += ", " + text.words
      } else if text.begins(with: "stacktrace:") {
        place = ownPlace(after: next, most: 30)
        break
      }
      next += 1
    }
    add(.error, message, at: place ?? header)
    while !line(next).isBlank { next += 1 }
    return next
  }

  /// `     # ./spec/a_spec.rb:5:in 'block'` below `Failure/Error: expect(…)` and what is said about it.
  mutating func rspec(_ index: Int) -> Int? {
    guard lines[index].trimmed.begins(with: "# "), !line(index - 1).trimmed.begins(with: "# ")
    else { return nil }
    var start = index - 1
    while start > index - 60, !line(start).trimmed.begins(with: "Failure/Error:") { start -= 1 }
    guard line(start).trimmed.begins(with: "Failure/Error:"),
      let place = places(index).first.flatMap({ files.isOwn($0.path) ? $0 : nil })
        ?? ownPlace(after: index, most: 60)
    else { return nil }
    let title = numbered(start - 1)
    while !line(start).isBlank { start += 1 }
    var message = paragraph(start + 1)
    if message.isEmpty { message = "failed" }
    add(.error, (title.map { $0.message + ": " } ?? "") + message, at: place)
    return index + 1
  }

  /// `CalcTest#test_adds [test/a_test.rb:6]:` and the message below it.
  mutating func minitest(_ index: Int) -> Int? {
    let line = lines[index]
    guard line.ends(with: "]:"), let open = line.range(of: " ["),
      line[..<open.lowerBound].contains("#"), let place = places(index).first
    else { return nil }
    add(.error, line[..<open.lowerBound].message + ": " + paragraph(index + 1), at: place)
    return index + 1
  }

  /// `    a.rb:7:in 'f'` below `Error:`, `CalcTest#test_raises:` and a message.
  mutating func minitestError(_ index: Int) -> Int? {
    let isCall = { (line: OutputLine) in line.indentation > 0 && line.contains(":in ") }
    guard isCall(lines[index]), !isCall(line(index - 1)) else { return nil }
    for back in 2...60 where line(index - back).ends(with: "Error:") {
      let name = line(index - back + 1)
      guard name.contains("#"), name.last == UInt8(ascii: ":"),
        let place = places(index).first.flatMap({ files.isOwn($0.path) ? $0 : nil })
          ?? ownPlace(after: index, most: 60)
      else { return nil }
      add(.error, name.message + " " + line(index - back + 2).message, at: place)
      return index + 1
    }
    return nil
  }
}
