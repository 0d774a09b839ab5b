import Support
import SystemCalls

// The forms of build tools, and of the compilers that they call.

extension DiagnosticReader {
  /// `[ERROR] /p/A.java:[5,9] cannot find symbol`, and what javac says about the symbol on the next line. A goal
  /// that fails is an error if there is no other.
  mutating func maven() -> Int? {
    guard let (severity, text) = line.severity(["[ERROR] ": .error, "[WARNING] ": .warning])
    else { return nil }
    if let place = WrittenPlace(text, ":[", "] "), let path = files.file(place.name) {
      let next = self.line(index + 1)
      let details = (next.dropping("[ERROR] ") ?? next).trimmed.dropping("symbol:")
      let symbol = details.map { ": " + $0.words } ?? ""
      add(severity, place.rest.message + symbol, path, place.line, max(1, place.column ?? 1))
    } else if severity == .error, let help = text.range(of: " -> [Help") {
      addGeneral(text[..<help.lowerBound].message)
    }
    return index + 1
  }

  /// `e: file:///p/A.kt:3:5 Unresolved reference`, and `e: /p/A.kt: (3, 5): Unresolved reference` of older versions.
  mutating func kotlin() -> Int? {
    guard let (severity, text) = line.severity(["e: ": .error, "w: ": .warning]) else { return nil }
    if let place = WrittenPlace(text, ": (", "): "), let path = files.file(place.name) {
      return add(severity, place.rest.message, path, place.line, place.column)
    }
    guard let place = places(index).first else { return nil }
    let rest = rest(after: place)
    return add(severity, (rest.dropping(": ") ?? rest).message, at: place)
  }

  /// `CMake Error at CMakeLists.txt:3 (find_package):`, and the message below it.
  mutating func cmake() -> Int? {
    guard
      let (severity, text) = line.severity([
        "CMake Error": .error, "CMake Warning": .warning, "CMake Deprecation Warning": .warning,
      ])
    else { return nil }
    if let message = text.dropping(": ") {
      if severity == .error { addGeneral(message.message) }
      return index + 1
    }
    guard text.last == UInt8(ascii: ":"), let place = places(index).first else { return nil }
    return add(severity, paragraph(index + 1, separator: " ", indentation: 2), at: place)
  }

  /// `** (CompileError) lib/a.ex:3: undefined function`, or `** (RuntimeError) no` and the calls below it.
  mutating func elixir() -> Int? {
    guard let text = lines[index].trimmed.dropping("** (") else { return nil }
    if let place = places(index).first {
      let rest = rest(after: place)
      // Newer versions show the source, and the place below it.
      guard let message = rest.dropping(": ") else { return nil }
      return add(.error, message.message, at: place)
    }
    guard let place = ownPlace(after: index, most: 30) else { return nil }
    return add(.error, "(" + text.message, at: place)
  }

  /// `  lib/a.ex:4: Demo.f/1` below `warning: variable "x" is unused`.
  mutating func mixWarning() -> Int? {
    guard lines[index].begins(with: "  "), line(index - 1).begins(with: "warning: "),
      let place = places(index).first, place.range.lowerBound == 2,
      place.path.bytes[...].ends(with: ".ex") || place.path.bytes[...].ends(with: ".exs"),
      let message = line(index - 1).dropping("warning: ")
    else { return nil }
    return add(.warning, message.message, at: place)
  }

  /// `/p/a.rb:7:in 'f': message (NameError)`, or the same calls below `rake aborted!` and a message.
  mutating func ruby() -> Int? {
    guard line.indentation == 0, let first = places(index).first, first.range.lowerBound == 0
    else { return nil }
    let rest = rest(after: first)
    if let message = rest.dropping(": syntax error") {
      return add(.error, "syntax error" + message.message, at: first)
    }
    guard rest.begins(with: ":in ") else { return nil }
    if let words = rest.range(of: "': ") {
      let message = rest[words.upperBound...]
      // The file that is loaded.
      if let written = WrittenPlace(message), let text = written.rest.dropping(": "),
        let path = files.file(written.name)
      {
        add(.error, text.message, path, written.line)
      } else if let place = files.isOwn(first.path)
        ? first : ownPlace(after: index, most: 60, prefix: "\tfrom ")
      {
        add(.error, message.message, at: place)
      }
      return index + 1
    }
    guard index >= 2, self.line(index - 2).begins(with: "rake aborted!"),
      let place = ownPlace(after: index - 1, most: 61)
    else { return nil }
    return add(.error, self.line(index - 1).message, at: place)
  }

  // MARK: - What they share

  /// The first location of a file of the project in the lines after this one, up to a blank line.
  mutating func ownPlace(
    after index: Int, most: Int, prefix: StaticString? = nil
  ) -> SourceLocation? {
    for next in (index + 1)..<(index + 1 + most) {
      let line = self.line(next)
      if line.isBlank { return nil }
      if let prefix, !line.begins(with: prefix) { continue }
      if let place = places(next).first, files.isOwn(place.path) { return place }
    }
    return nil
  }

  /// The text of at most four lines from this one on, up to a blank one, one with less indentation, or a mark.
  func paragraph(
    _ index: Int, separator: String = ", ", indentation: Int = 0, until mark: StaticString? = nil
  ) -> String {
    var text = ""
    for next in index..<(index + 4) {
      let part = line(next).message
      if part.isEmpty || line(next).indentation < indentation { break }
      if let mark, line(next).begins(with: mark) { break }
      if !text.isEmpty { text += text.hasSuffix(":") ? " " : separator }
      text += part
    }
    return text
  }
}

extension OutputLine {
  /// The text with single spaces.
  var words: String { message.split(separator: " ").joined(separator: " ") }
}
