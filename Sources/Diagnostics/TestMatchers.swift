import Support
import SystemCalls

// The forms of test runners, and of programs that end with a trace of calls.

extension DiagnosticReader {
  /// `  File "a.py", line 3, in f` and more of these, then `NameError: name 'x' is not defined`.
  mutating func traceback() -> Int? {
    let indentation = lines[index].indentation
    guard lines[index].first == 0x20, lines[index].trimmed.begins(with: "File \"") else {
      return nil
    }
    var places: [SourceLocation] = []
    var end = index
    while end < min(lines.count, index + 400) {
      let line = lines[end]
      if line.isBlank || line.indentation < indentation { break }
      if line.indentation == indentation { places += self.places(end).prefix(1) }
      end += 1
    }
    let message = line(end)
    // The last exception of a chain says what has failed.
    let isCause = (1...3).contains { offset in
      line(end + offset).begins(with: "During handling of the above exception")
        || line(end + offset).begins(with: "The above exception was the direct cause")
    }
    guard !isCause, !message.begins(with: "KeyboardInterrupt"), !message.isBlank,
      let place = places.last(where: { files.isOwn($0.path) }) ?? places.last
    else { return end }
    add(.error, message.message, at: place)
    return end + 1
  }

  /// `thread 'tests::adds' panicked at src/lib.rs:9:9:`, then the message. Older versions print the message
  /// first, on the same line.
  mutating func panicked() -> Int? {
    guard let words = line.range(of: "panicked at "), let place = places(index).last else {
      return nil
    }
    var message: String
    var next = index + 1
    let rest = line[words.upperBound...]
    if rest.first == UInt8(ascii: "'"), let end = rest.range(of: "', ") {
      message = rest[(rest.startIndex + 1)..<end.lowerBound].message
    } else {
      message = self.line(next).message
      if message.isEmpty { return nil }
      next += 1
      // What was compared.
      while self.line(next).begins(with: "  left: ") || self.line(next).begins(with: " right: ") {
        message += ", " + self.line(next).message
        next += 1
      }
    }
    if let thread = line.dropping("thread '"), let end = thread.firstIndex(of: UInt8(ascii: "'")) {
      let name = thread[..<end].message
      if name != "main" { message = "\(name): \(message)" }
    }
    add(.error, message, at: place)
    return next
  }

  /// `✘ Test adds() recorded an issue at ATests.swift:6:5: Expectation failed: …`.
  mutating func recordedIssue() -> Int? {
    guard let words = line.range(of: " recorded an issue"),
      let start = line[words.upperBound...].range(of: " at ")
    else { return nil }
    // Arguments of the test precede the place, and may contain anything.
    var text = line[start.upperBound...]
    while WrittenPlace(text) == nil, let next = text.range(of: " at ") {
      text = text[next.upperBound...]
    }
    guard let place = WrittenPlace(text), let message = place.rest.dropping(": ") else {
      return nil
    }
    let name = line[..<words.lowerBound].range(of: "Test ").map {
      line[$0.upperBound..<words.lowerBound].message + ": "
    }
    let path =
      files.fileOrEnd(place.name) ?? Path(bytes: place.name).absolute(from: files.directory)
    return add(.error, (name ?? "") + message.message, path, place.line, place.column)
  }

  /// `panic: message`, then `\t/p/main.go:7 +0x1d`.
  mutating func goPanic() -> Int? {
    guard let message = line.dropping("panic: ") ?? line.dropping("fatal error: ") else {
      return nil
    }
    for next in (index + 1)..<max(index + 1, min(lines.count, index + 100)) {
      guard lines[next].first == UInt8(ascii: "\t"), let place = places(next).first,
        files.isOwn(place.path)
      else { continue }
      add(.error, message.message, at: place)
      return next + 1
    }
    return nil
  }

  /// `    a_test.go:7: got 3, want 4` below `--- FAIL: TestAdd (0.00s)`.
  mutating func goTest() -> Int? {
    guard line.indentation >= 4, let place = WrittenPlace(line.trimmed), place.column == nil,
      place.name.ends(with: ".go"),
      let message = place.rest.dropping(": "), let path = files.fileOrEnd(place.name)
    else { return nil }
    // What a test that succeeds logs is no error. With -v, its result follows.
    let isHeader = { (line: OutputLine) in
      line.trimmed.begins(with: "--- ") || line.begins(with: "=== ")
    }
    var header = nearest(above: index, most: 200, where: isHeader) ?? index
    if self.line(header).begins(with: "=== ") {
      header = lines[index...].prefix(200).firstIndex { $0.trimmed.begins(with: "--- ") } ?? header
    }
    guard
      self.line(header).trimmed.begins(with: "--- FAIL") || self.line(header).begins(with: "=== ")
    else { return nil }
    // Nor is a log line of a test that fails, which looks like an error.
    let source = files.line(place.line, of: path)
    let calls = [".Log", ".Error", ".Fatal"].map { source.range(of: $0) != nil }
    if calls == [true, false, false] { return index + 1 }
    var text = message.message
    if text.isEmpty { text = self.line(index + 1).message }
    return add(.error, text, path, place.line)
  }

  /// `test_a.py:5: AssertionError` below lines that begin with `E`, or `test_a.py:5: in test_a` above them.
  mutating func pytest() -> Int? {
    guard line.indentation == 0, line.prefix(while: { $0 != UInt8(ascii: ":") }).ends(with: ".py"),
      let place = places(index).first, place.range.lowerBound == 0, place.column == nil,
      let rest = rest(after: place).dropping(":")
    else { return nil }
    let word = rest.trimmed
    if word.begins(with: "in ") {
      for next in (index + 1)..<max(index + 1, min(lines.count, index + 30)) {
        if let message = Self.assertion(lines[next]) {
          add(.error, message.message, at: place)
          return next + 1
        }
        if lines[next].indentation == 0 { break }
      }
      return nil
    }
    guard !word.isEmpty, word.allSatisfy({ $0.isLetterASCII || "._".utf8.contains($0) }) else {
      return nil
    }
    var message: OutputLine?
    for back in 1...60 where index - back >= 0 {
      let text = Self.assertion(lines[index - back])
      if message != nil && text == nil { break }
      message = text ?? message
    }
    guard let message else { return nil }
    return add(.error, message.message, at: place)
  }

  /// What follows `E` in a line of pytest.
  private static func assertion(_ line: OutputLine) -> OutputLine? {
    line.dropping("E  ")?.trimmed
  }

  /// `/p/a.js:3` or `file:///p/a.mjs:3`, the line, a caret below it, and `SyntaxError: message`. The calls below
  /// lead to who loads the file.
  mutating func nodeSyntax() -> Int? {
    guard line.begins(with: "/") || line.begins(with: "file:///"), line.last?.isDigitASCII == true,
      let place = places(index).first, place.range.upperBound == line.count
    else { return nil }
    let rest = (index + 1)..<min(lines.count, index + 8)
    guard var end = rest.first(where: { lines[$0].begins(with: "SyntaxError: ") }) else {
      return nil
    }
    let caret = lines[index + 1..<end].last { $0.trimmed.first == UInt8(ascii: "^") }
    let column = caret.map { $0.indentation + 1 }
    add(.error, lines[end].message, place.path, place.line, column)
    repeat { end += 1 } while Self.isFrame(self.line(end))
    return end
  }

  /// `    at f (/p/a.js:3:4)` and more of these, below an error.
  mutating func stack() -> Int? {
    guard Self.isFrame(lines[index]) else { return nil }
    var begin = index
    while begin > 0, Self.isFrame(lines[begin - 1]) { begin -= 1 }
    // Rust numbers the calls, and the message of the panic is found already.
    let above = line(begin - 1).trimmed
    if above.first?.isDigitASCII == true, above.drop(while: \.isDigitASCII).begins(with: ": ") {
      return nil
    }
    var end = index
    var place: SourceLocation?
    while end < lines.count, Self.isFrame(lines[end]) {
      if place == nil { place = self.place(ofFrame: end) }
      end += 1
    }
    if let place, let message = header(above: begin) {
      // `node --trace-warnings`
      add(message.hasPrefix("(node:") ? .warning : .error, message, at: place)
    }
    return end
  }

  /// `  location: '/p/a.test.js:4:1'` below `not ok 1 - adds`, with the error and the calls below.
  mutating func tap() -> Int? {
    guard lines[index].trimmed.begins(with: "location: '"), var place = places(index).first else {
      return nil
    }
    let title = { (line: OutputLine) -> OutputLine? in
      guard let words = line.range(of: "not ok "), let dash = line.range(of: " - "),
        words.upperBound < dash.lowerBound
      else { return nil }
      return line[dash.upperBound...]
    }
    guard let header = nearest(above: index, most: 4, where: { title($0) != nil }),
      let title = title(lines[header])?.message
    else { return nil }
    var message: String?
    var next = index + 1
    while next < min(lines.count, index + 100) {
      let text = lines[next].trimmed
      if text.elementsEqual("...".utf8) { break }
      if let error = text.dropping("error: ") {
        let isBlock = error.begins(with: "|")
        message = isBlock ? line(next + 1).message : error.filter { $0 != 0x27 }[...].message
      } else if text.begins(with: "stack: ") {
        let frames = (next + 1)..<min(lines.count, next + 20)
        for frame in frames where lines[frame].indentation > lines[next].indentation {
          if let found = places(frame).first, files.isOwn(found.path) {
            place = found
            break
          }
        }
      }
      next += 1
    }
    // A suite fails because one of its tests does.
    if message?.hasSuffix("subtest failed") == true || message?.hasSuffix("subtests failed") == true
    {
      return index + 1
    }
    add(.error, title + (message.map { ": " + $0 } ?? ""), at: place)
    return next
  }

  private static func isFrame(_ line: OutputLine) -> Bool {
    line.indentation > 0 && line.trimmed.begins(with: "at ")
  }

  private mutating func place(ofFrame index: Int) -> SourceLocation? {
    if let place = places(index).first { return files.isOwn(place.path) ? place : nil }
    // Java names no directory.
    let line = lines[index].trimmed
    guard let open = line.firstIndex(of: UInt8(ascii: "(")),
      let place = WrittenPlace(line[(open + 1)...]),
      place.name.ends(with: ".java") || place.name.ends(with: ".kt"),
      let path = files.fileOrEnd(place.name)
    else { return nil }
    return SourceLocation(range: 0..<0, path: path, line: place.line, column: nil)
  }

  /// The error that a trace belongs to: the title of a test and what has failed in it, or the line with the
  /// name of the error. `nil` for what was only logged.
  private func header(above index: Int) -> String? {
    var nearest: OutputLine?
    var error: OutputLine?
    for back in 1...60 where index - back >= 0 {
      let line = lines[index - back].trimmed
      if line.isEmpty { continue }
      // As jest says it, and not a line of source.
      let isLogged = line.begins(with: "console.") && !line.contains("(")
      if Self.isFrame(lines[index - back]) || isLogged {
        if error == nil && isLogged { return nil }
        break
      }
      if let title = line.dropping("● ") {
        let detail = ((index - back + 1)..<index).first { !lines[$0].isBlank }
        return title.message + (detail.map { ": " + lines[$0].message } ?? "")
      }
      if line.begins(with: "Caused by: ") { return nil }
      if nearest == nil { nearest = line }
      if error == nil,
        line.contains("Error: ") || line.contains("Exception: ")
          || line.contains("Error [") || line.contains(" [ERROR]: ")
      {
        error = line
      }
    }
    let header = error ?? nearest
    return (header?.dropping("error: ") ?? header)?.message
  }
}
