import Support
import SystemCalls

// The forms of PHP, OCaml, Nim and pylint, and of what bundles pages.

extension DiagnosticReader {
  /// `PHP Parse error:  message in a.php on line 3`, and `PHP Fatal error:  Uncaught Error: message in a.php:3`.
  mutating func php() -> Int? {
    let text = line.dropping("PHP ") ?? line
    guard
      let (severity, rest) = text.severity([
        "Parse error: ": .error, "Fatal error: ": .error, "Warning: ": .warning, "Notice: ": .note,
        "Deprecated: ": .note,
      ])
    else { return nil }
    if let place = places(index).last, place.column == nil, place.range.upperBound == line.count,
      let before = line[rest.startIndex..<(line.startIndex + place.range.lowerBound)]
        .dropping(suffix: " in ")
    {
      return add(severity, before.message, at: place)
    }
    guard let on = rest.last(" on line "), let number = rest[on.upperBound...].decimal(),
      number > 0, let within = rest[..<on.lowerBound].last(" in "),
      let path = files.file(rest[within.upperBound..<on.lowerBound])
    else { return nil }
    return add(severity, rest[..<within.lowerBound].message, path, number)
  }

  /// `File "main.ml", line 1, characters 20-21:`, the line, and `Error: message` below it, which may go on.
  mutating func ocaml() -> Int? {
    guard let text = lines[index].dropping("File \""), text.last == UInt8(ascii: ":"),
      let quote = text.range(of: "\", line"),
      let row = text[quote.upperBound...].drop(while: { !$0.isDigitASCII })
        .prefix(while: \.isDigitASCII).decimal(), row > 0,
      let path = files.file(text[..<quote.lowerBound])
    else { return nil }
    let column = text.range(of: ", characters ").flatMap {
      text[$0.upperBound...].prefix(7).prefix(while: \.isDigitASCII).decimal()
    }
    for next in (index + 1)..<(index + 20) {
      let message = line(next)
      if message.isBlank { break }
      let isError = message.begins(with: "Error")
      guard isError || message.begins(with: "Warning"), let colon = message.range(of: ": ")
      else { continue }
      let rest = paragraph(next + 1, separator: " ", indentation: 1)
      add(
        isError ? .error : .warning,
        message[colon.upperBound...].message + (rest.isEmpty ? "" : " " + rest), path, row,
        column.map { $0 + 1 })
      return next + 1
    }
    return nil
  }

  /// `/p/a.nim(3, 7) Error: message`.
  mutating func nim() -> Int? {
    guard let end = lines[index].range(of: ") ") else { return nil }
    let rest = lines[index][end.upperBound...]
    guard let place = places(index).first, place.range.lowerBound == 0,
      let (severity, message) = rest.severity([
        "Error: ": .error, "Warning: ": .warning, "Hint: ": .note,
      ])
    else { return nil }
    return add(severity, message.message, at: place)
  }

  /// `Error: unhandled exception: message` below the calls, of which the last is where it was raised.
  mutating func nimException() -> Int? {
    guard let message = lines[index].dropping("Error: unhandled exception: ") else { return nil }
    for back in 1...20 {
      if line(index - back).isBlank { return nil }
      if let place = places(index - back).first, files.isOwn(place.path) {
        return add(.error, message.message, at: place)
      }
    }
    return nil
  }

  /// `a.py:1:0: C0114: message`, whose columns begin with 0.
  mutating func pylint() -> Int? {
    guard let colon = lines[index].range(of: ": ") else { return nil }
    let text = lines[index][colon.upperBound...]
    guard let letter = text.first, text.dropFirst().prefix(4).allSatisfy(\.isDigitASCII),
      text.dropFirst(5).begins(with: ": "), let place = WrittenPlace(lines[index]),
      let severity = Self.severities[letter], let path = files.file(place.name)
    else { return nil }
    return add(severity, text.message, path, place.line, (place.column ?? 0) + 1)
  }

  private static let severities: [UInt8: Diagnostic.Severity] = [
    UInt8(ascii: "C"): .note, UInt8(ascii: "R"): .note, UInt8(ascii: "W"): .warning,
    UInt8(ascii: "E"): .error, UInt8(ascii: "F"): .error,
  ]

  /// `✘ [ERROR] message`, and `    src/a.js:1:18:` two lines below.
  mutating func esbuild() -> Int? {
    let header = lines[index]
    guard header.begins(with: "✘ [ERROR] ") || header.begins(with: "▲ [WARNING] "),
      line(index + 2).last == UInt8(ascii: ":"), let place = places(index + 2).first,
      let end = header.range(of: "] ")
    else { return nil }
    add(
      header.begins(with: "✘") ? .error : .warning, header[end.upperBound...].message, at: place)
    return index + 3
  }

  /// `file: /p/a.js:3:8` below `error during build:` and a message.
  mutating func vite() -> Int? {
    guard lines[index].begins(with: "error during build:") else { return nil }
    // esbuild says more, in lines with places.
    if line(index + 1).begins(with: "[vite:esbuild") { return index + 2 }
    let next = index + 2
    if line(next).begins(with: "file: "), let place = places(next).first {
      let text = line(index + 1)
      let message = text.range(of: "): ").map { text[$0.upperBound...] } ?? text
      add(.error, message.message, at: place)
      return next + 1
    }
    addGeneral(line(index + 1).message)
    return next
  }

  /// `src/a.js:3:7 lint/suspicious/noDoubleEquals ━━━━`, and `  ✖ message` two lines below.
  mutating func biome() -> Int? {
    guard line.ends(with: "━━"), let place = places(index).first, place.range.lowerBound == 0
    else { return nil }
    let text = self.line(index + 2).trimmed
    guard let space = text.firstIndex(of: 0x20) else { return nil }
    let severity: Diagnostic.Severity =
      text.begins(with: "!") ? .warning : text.begins(with: "i ") ? .note : .error
    add(severity, text[space...].message, at: place)
    return index + 3
  }
}
