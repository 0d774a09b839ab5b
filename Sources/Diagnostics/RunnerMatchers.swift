import Support
import SystemCalls

// The forms of test runners that number what has failed, or mark it.

extension DiagnosticReader {
  /// What follows the number of a failure, as in `  1) Calc adds`.
  private func numbered(_ line: OutputLine) -> OutputLine? {
    let line = line.trimmed
    let rest = line.drop(while: \.isDigitASCII)
    return rest.startIndex > line.startIndex ? rest.dropping(") ") : nil
  }

  /// `     test/a_test.exs:4` below `  1) test adds (DemoTest)`, then what has failed and `stacktrace:`.
  mutating func exUnit() -> Int? {
    guard let title = numbered(line(index - 1)), let header = places(index).first,
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
  mutating func rspec() -> Int? {
    guard lines[index].trimmed.begins(with: "# "), !line(index - 1).trimmed.begins(with: "# ")
    else { return nil }
    guard
      var start = nearest(above: index, where: { $0.trimmed.begins(with: "Failure/Error:") }),
      let place = ownPlace(after: index - 1, most: 61)
    else { return nil }
    let title = numbered(line(start - 1))
    while !line(start).isBlank { start += 1 }
    var message = paragraph(start + 1)
    if message.isEmpty { message = "failed" }
    return add(.error, (title.map { $0.message + ": " } ?? "") + message, at: place)
  }

  /// `CalcTest#test_adds [test/a_test.rb:6]:` and the message below it.
  mutating func minitest() -> Int? {
    guard line.ends(with: "]:"), let open = line.range(of: " ["),
      line[..<open.lowerBound].contains("#"), let place = places(index).first
    else { return nil }
    return add(.error, line[..<open.lowerBound].message + ": " + paragraph(index + 1), at: place)
  }

  /// `    a.rb:7:in 'f'` below `Error:`, `CalcTest#test_raises:` and a message.
  mutating func minitestError() -> Int? {
    let isCall = { (line: OutputLine) in line.indentation > 0 && line.contains(":in ") }
    guard isCall(lines[index]), !isCall(line(index - 1)),
      let header = nearest(above: index - 1, where: { $0.ends(with: "Error:") }),
      line(header + 1).contains("#"), line(header + 1).last == UInt8(ascii: ":"),
      let place = ownPlace(after: index - 1, most: 61)
    else { return nil }
    return add(.error, line(header + 1).message + " " + line(header + 2).message, at: place)
  }

  /// `a.cpp:4: Failure` of GoogleTest below `[ RUN      ] Price.Adds`, and `a.cpp:4: FAILED:` of Catch2.
  mutating func expectation() -> Int? {
    if line.ends(with: ": FAILED:") {
      guard let place = places(index).first else { return nil }
      let values = self.line(index + 2).begins(with: "with expansion:") ? self.line(index + 3) : []
      let reason = self.line(index + 2).begins(with: "due to ") ? self.line(index + 3) : []
      let text = reason.isEmpty ? self.line(index + 1).message : reason.message
      return add(.error, text + (values.isEmpty ? "" : ": " + values.message), at: place)
    }
    guard line.ends(with: ": Failure") else { return nil }
    let header = nearest(above: index, most: 200) { $0.begins(with: "[ RUN") }
    let title = header.map { lines[$0].dropFirst(12).message + ": " } ?? ""
    let message = title + paragraph(index + 1, until: "[  FAILED")
    if let place = places(index).first { return add(.error, message, at: place) }
    return line.begins(with: "unknown file") ? add(.error, message) : index + 1
  }

  /// `/p/ATest.php:8` alone in a line, below `1) ATest::testAdds` and a message.
  mutating func phpUnit() -> Int? {
    guard line.first == UInt8(ascii: "/"), line.last?.isDigitASCII == true,
      self.line(index - 1).isBlank, let place = places(index).first,
      place.range == 0..<line.count, place.path.bytes[...].ends(with: ".php"),
      let header = nearest(above: index, where: { numbered($0) != nil }),
      let title = numbered(lines[header]), title.contains("::"),
      let own = ownPlace(after: index - 1, most: 31)
    else { return nil }
    return add(.error, title.message + ": " + paragraph(header + 1), at: own)
  }

  /// ` ❯ a.test.js:4:23` below ` FAIL  a.test.js > adds` and a message.
  mutating func vitest() -> Int? {
    let isCall = { (line: OutputLine) in line.trimmed.begins(with: "❯ ") }
    guard isCall(lines[index]), !isCall(line(index - 1)),
      let header = nearest(above: index, where: { $0.trimmed.begins(with: "FAIL ") }),
      let place = ownPlace(after: index - 1, most: 31)
    else { return nil }
    // The name of the file is in the place.
    let title = lines[header]
    let name = title.range(of: " > ").map { title[$0.upperBound...].message + ": " } ?? ""
    add(.error, name + line(header + 1).message, at: place)
    // The calls, with lines of source between them.
    return lines[index...].prefix(60).firstIndex(where: \.isBlank) ?? index + 1
  }

  /// `Error Message:` of `dotnet test` below `Failed A.Adds [4 ms]`, then the message, `Stack Trace:` and
  /// `at A.Adds() in /p/A.cs:line 9`.
  mutating func dotnetTest() -> Int? {
    guard lines[index].trimmed.elementsEqual("Error Message:".utf8),
      let title = line(index - 1).trimmed.dropping("Failed ")
    else { return nil }
    let name = title.prefix { $0 != 0x20 }.message
    var message = name + ": " + line(index + 1).message
    var next = index + 2
    while next < index + 60, !line(next).isBlank {
      let text = line(next).trimmed
      if text.begins(with: "Expected: ") || text.begins(with: "Actual: ") {
        message += ", " + text.words
      }
      if let mark = text.range(of: ":line "), let within = text.range(of: " in "),
        within.upperBound < mark.lowerBound, let row = text[mark.upperBound...].decimal(), row > 0,
        let path = files.file(text[within.upperBound..<mark.lowerBound]), files.isOwn(path)
      {
        add(.error, message, path, row)
        return next + 1
      }
      next += 1
    }
    return nil
  }
}
