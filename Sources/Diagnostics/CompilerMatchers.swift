import Support
import SystemCalls

// The forms of compilers, linters and linkers.

extension Diagnostic.Severity {
  /// The words for severities. One that contains another comes first.
  private static let words: [(StaticString, Diagnostic.Severity)] = [
    ("fatal error", .error), ("Fatal error", .error), ("error", .error), ("warning", .warning),
    // Meson, doctest, Sphinx
    ("ERROR", .error), ("WARNING", .warning),
    ("note", .note), ("info", .note), ("remark", .note), ("style", .note), ("help", .note),
  ]

  /// Parses a severity and an optional code, as in `error: `, `error TS2322: ` or `error[E0425]: `, and
  /// returns what follows.
  static func parse(_ text: OutputLine) -> (severity: Self, rest: OutputLine)? {
    for (word, severity) in words {
      guard var rest = text.dropping(word) else { continue }
      if rest.first == 0x20 || rest.first == UInt8(ascii: "[") {
        rest = rest.dropFirst().drop {
          $0.isLetterASCII || $0.isDigitASCII
            || $0 == UInt8(ascii: ":") && rest.first == UInt8(ascii: "[") || $0 == UInt8(ascii: "_")
        }
        if rest.first == UInt8(ascii: "]") { rest = rest.dropFirst() }
      }
      if let message = rest.dropping(": ") { return (severity, message) }
    }
    return nil
  }
}

/// A place at the beginning of a text, whether or not its file exists.
struct WrittenPlace {
  var name: OutputLine
  var line: Int
  var column: Int?
  /// What follows it.
  var rest: OutputLine

  /// Parses `name:12` or `name:12:3`; the name has no spaces, and an extension.
  init?(_ text: OutputLine) {
    var rest = text
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      rest = rest[(colon + 1)...]
      guard let (line, end) = rest.number, line > 0 else { continue }
      let name = text[..<colon]
      guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
        (1...6).contains(name.endIndex - dot - 1), name[(dot + 1)...].allSatisfy(\.isLetterASCII),
        !name.contains(0x20), name.first != UInt8(ascii: "(")
      else { return nil }
      (self.name, self.line) = (name, line)
      self.rest = text[end...]
      if let (column, end) = self.rest.dropping(":")?.number, column > 0 {
        self.column = column
        self.rest = text[end...]
      }
      return
    }
    return nil
  }

  /// Parses `name:[5,9] message` with these marks around the numbers.
  init?(_ text: OutputLine, _ open: StaticString, _ close: StaticString) {
    guard let mark = text.range(of: open), let end = text.range(of: close),
      mark.upperBound < end.lowerBound
    else { return nil }
    let numbers = text[mark.upperBound..<end.lowerBound].split(separator: UInt8(ascii: ","))
    guard numbers.count == 2, let line = numbers[0].decimal(), line > 0 else { return nil }
    (name, self.line, column) = (text[..<mark.lowerBound], line, numbers[1].trimmed.decimal())
    rest = text[end.upperBound...]
  }

  /// Whether the name can only be that of a file, and not of a host.
  var namesFile: Bool {
    let ending = name.suffix(6).split(separator: UInt8(ascii: ".")).last ?? []
    return !name.contains("://")
      && (name.contains(UInt8(ascii: "/"))
        || Self.endings.contains { ending.elementsEqual($0.utf8) })
  }

  /// The endings of sources that are no domains as well, or rarely.
  private static let endings = [
    "asm", "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "cts", "cu", "cxx", "dart", "elm", "erl",
    "ex", "exs", "fs", "go", "gradle", "groovy", "h", "hh", "hpp", "hs", "html", "hxx", "inc",
    "ini", "java", "jl", "js", "json", "jsx", "kt", "kts", "less", "lua", "m", "md", "mjs", "ml",
    "mli", "mm", "mts", "nim", "nix", "php", "pl", "proto", "py", "pyi", "pyx", "r", "rb", "rs",
    "rst", "s", "sass", "scala", "scss", "sh", "sql", "svelte", "sv", "swift", "tex", "tf", "toml",
    "ts", "tsx",
    "txt", "v", "vb", "vue", "xml", "y", "yaml", "yml", "zig",
  ]
}

extension DiagnosticReader {
  /// `make[1]: Entering directory '/p/sub'`.
  mutating func directory() -> Int? {
    guard line.begins(with: "make") || line.begins(with: "ninja: ") else { return nil }
    let leaving = line.range(of: ": Leaving directory ")
    guard let words = leaving ?? line.range(of: ": Entering directory ") else { return nil }
    let quoted = line[words.upperBound...].dropFirst().dropLast()
    files.change(to: quoted.decoded, isLeaving: leaving != nil)
    return index + 1
  }

  /// `In a.sh line 3:`, the line, and below it `^-- SC2086 (info): Double quote …`.
  mutating func shellCheck() -> Int? {
    guard let text = lines[index].dropping("In "), text.last == UInt8(ascii: ":"),
      let word = text.range(of: " line "),
      let number = text[word.upperBound...].dropLast().decimal(),
      let path = files.file(text[..<word.lowerBound])
    else { return nil }
    var next = index + 1
    while next < lines.count, !lines[next].isBlank {
      let line = lines[next]
      next += 1
      guard let caret = line.firstIndex(of: UInt8(ascii: "^")), let code = line.range(of: " SC")
      else { continue }
      let rule = line[(code.lowerBound + 1)...]
      guard let colon = rule.range(of: ": ") else { continue }
      let severity: Diagnostic.Severity =
        rule.contains("(error)") ? .error : rule.contains("(warning)") ? .warning : .note
      let name = rule[..<colon.lowerBound].prefix { $0 != 0x20 }
      add(
        severity, name.message + ": " + rule[colon.upperBound...].message, path, number,
        line.distance(from: line.startIndex, to: caret) + 1)
    }
    return next
  }

  /// ` --> src/main.rs:2:5` below `error[E0425]: cannot find value`, or below a message without a severity.
  /// Elixir draws the arrow with lines.
  mutating func arrow() -> Int? {
    let mark = lines[index].trimmed
    guard mark.begins(with: "--> ") || mark.begins(with: "└─ "),
      let place = places(index).first
    else { return nil }
    for back in 1...12 where index - back >= 0 {
      let header = lines[index - back]
      if header.isBlank { break }
      if let (severity, message) = Diagnostic.Severity.parse(header.trimmed) {
        add(severity, message.message, at: place)
        break
      }
      // ruff
      if back == 1 && header.indentation == 0 && line(index + 1).trimmed.first == UInt8(ascii: "|")
      {
        add(.error, header.message, at: place)
        break
      }
    }
    return index + 1
  }

  /// `  3:5  error  'x' is not defined  no-undef` below the name of the file.
  mutating func stylish() -> Int? {
    guard line.indentation > 0, line.trimmed.first?.isDigitASCII == true else { return nil }
    let parts = line.trimmed.split(separator: 0x20, maxSplits: 1)
    let numbers = parts[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, numbers.count == 2, let row = numbers[0].decimal(),
      let column = numbers[1].decimal()
    else { return nil }
    // The output may be indented as a whole.
    let header = nearest(above: index, most: 500) { $0.indentation == 0 } ?? max(0, index - 500)
    guard
      let (severity, rest) = parts[1].trimmed.severity(["error ": .error, "warning ": .warning]),
      let path = files.file(lines[header].trimmed)
    else { return nil }
    var message = rest.trimmed
    // The rule.
    if let gap = message.range(of: "  ") { message = message[..<gap.lowerBound] }
    return add(severity, message.message, path, max(1, row), max(1, column))
  }

  /// ``main.c:(.text+0xa): undefined reference to `f'``, and the same with a line.
  mutating func linker() -> Int? {
    if line.begins(with: "ld.lld: error: ") || line.begins(with: "rust-lld: error: ") {
      let message = line[(line.range(of: "error: ")?.upperBound ?? line.startIndex)...].message
      let place = self.line(index + 1).begins(with: ">>> ") ? places(index + 1).first : nil
      if let place { return add(.error, message, at: place) }
      return add(.error, message)
    }
    if Self.linker(in: line) != nil, let words = line.range(of: ": cannot find ") {
      return add(.error, line[(words.lowerBound + 2)...].message)
    }
    guard
      let words = line.range(of: ": undefined reference to ")
        ?? line.range(of: ": multiple definition of ")
    else { return nil }
    let message = line[(words.lowerBound + 2)...].message
    let place = places(index).first { line.startIndex + $0.range.upperBound == words.lowerBound }
    if let place { return add(.error, message, at: place) }
    let before = line[..<words.lowerBound]
    let start = Self.linker(in: before) ?? before.startIndex
    let end = before.range(of: ":(")?.lowerBound ?? before.endIndex
    let names = before[min(start, end)..<end].split(separator: UInt8(ascii: ":"))
    return add(.error, message, names.last.flatMap { files.fileOrEnd($0) })
  }

  /// The end of `ld: `, `/usr/bin/ld.gold: ` or `x86_64-linux-gnu-ld: `, and not of `build: `.
  private static func linker(in line: OutputLine) -> Int? {
    var rest = line
    while let name = rest.range(of: "ld: ") {
      let before = line[..<name.lowerBound]
      let isWord = before.last?.isLetterASCII ?? false
      if !isWord || before.suffix(5).elementsEqual("ld.go".utf8) { return name.upperBound }
      rest = rest[name.upperBound...]
    }
    return nil
  }

  /// `Makefile:2: *** missing separator.  Stop.` What says only that a recipe has failed is none.
  mutating func make() -> Int? {
    guard let stars = line.range(of: ": *** ") else { return nil }
    var message = line[stars.upperBound...]
    if message.first == UInt8(ascii: "[") || message.begins(with: "Waiting for ") {
      return index + 1
    }
    if let stop = message.range(of: ".  Stop.") { message = message[..<stop.lowerBound] }
    let place = places(index).first { line.startIndex + $0.range.upperBound == stars.lowerBound }
    if let place { return add(.error, message.message, at: place) }
    let isOfMake = line.begins(with: "make") || line.begins(with: "gmake")
    return isOfMake ? add(.error, message.message) : nil
  }

  /// `path:12:3: error: message`, `path:12: error: message`, `path(12,3): error TS2322: message` and
  /// `path:12:3 - error TS2322: message`.
  mutating func severity() -> Int? {
    guard mayEndPlace else { return nil }
    for place in places(index) {
      let rest = rest(after: place)
      guard let words = rest.dropping(": ") ?? rest.dropping(" - "),
        let (severity, message) = Diagnostic.Severity.parse(words)
      else { continue }
      var place = place
      if place.column == nil { place.column = caret(below: index) }
      var text = message
      // MSBuild names the project as well.
      if message.ends(with: "]"), let project = message.last(" ["),
        message[project.upperBound...].contains("proj")
      {
        text = message[..<project.lowerBound]
      }
      return add(severity, text.message + symbol(below: index), at: place)
    }
    // The form leaves no doubt, though the file is elsewhere.
    guard let place = WrittenPlace(line.trimmed),
      let text = place.rest.dropping(": ") ?? place.rest.dropping(" - "),
      let (severity, message) = Diagnostic.Severity.parse(text)
    else { return nil }
    var path = files.fileOrEnd(place.name)
    if path == nil && place.namesFile {
      path = Path(bytes: place.name).absolute(from: files.current)
    }
    guard let path else { return nil }
    return add(severity, message.message, path, place.line, place.column)
  }

  /// Whether a message may follow a place, as in `3:5: `, `(3,5): ` and `3:5 -`. Other lines spend no lookups of files.
  private var mayEndPlace: Bool {
    line.indices.dropFirst(2).contains { end in
      let isNumber = line[end - 2].isDigitASCII
      return switch (line[end - 1], line[end]) {
      case (UInt8(ascii: ":"), 0x20): isNumber || line[end - 2] == UInt8(ascii: ")")
      case (0x20, UInt8(ascii: "-")): isNumber
      default: false
      }
    }
  }

  /// The column of a caret two lines below, as javac prints it.
  private func caret(below index: Int) -> Int? {
    let mark = line(index + 2)
    guard mark.trimmed.elementsEqual("^".utf8) else { return nil }
    return mark.indentation + 1
  }

  /// What javac says about an unknown symbol below the caret.
  private func symbol(below index: Int) -> String {
    guard let symbol = line(index + 3).trimmed.dropping("symbol:") else { return "" }
    return ": " + symbol.words
  }

  /// `./main.go:4:2: undefined: x`, without a severity.
  mutating func plain() -> Int? {
    guard mayEndPlace, let place = places(index).first, place.column != nil,
      line[line.startIndex + place.range.upperBound - 1].isDigitASCII
    else { return nil }
    let before = line[..<(line.startIndex + place.range.lowerBound)]
    guard before.isBlank || before.elementsEqual("vet: ".utf8),
      var text = rest(after: place).dropping(": "), let first = text.first,
      // gcc says why it compiles a template: `a.cpp:3:5:   required from here`.
      first != UInt8(ascii: " ")
    else { return nil }
    var severity = Diagnostic.Severity.error
    if let warning = text.range(of: " [Warning/") {
      severity = .warning
      text = text[..<warning.lowerBound]
    } else if let error = text.range(of: " [Error") {
      text = text[..<error.lowerBound]
    }
    return add(severity, text.message, at: place)
  }

  /// `build.sh: line 3: foo: command not found`, or `build.sh: 3: foo: not found` of dash.
  mutating func shell() -> Int? {
    guard let word = line.range(of: ": line ") ?? line.range(of: ": "), line.indentation == 0
    else { return nil }
    let rest = line[word.upperBound...]
    guard let colon = rest.range(of: ": "), let number = rest[..<colon.lowerBound].decimal(),
      number > 0, let path = files.file(line[..<word.lowerBound])
    else { return nil }
    return add(.error, rest[colon.upperBound...].message, path, number)
  }

  /// `error: message`, or `clang: error: message`.
  mutating func general() -> Int? {
    var text = line
    if let colon = line.range(of: ": "), Self.isProgram(line[..<colon.lowerBound]),
      !line.begins(with: "error"), !line.begins(with: "fatal")
    {
      text = line[colon.upperBound...]
    }
    guard text.begins(with: "error") || text.begins(with: "fatal error: "),
      let (_, message) = Diagnostic.Severity.parse(text), !message.isBlank
    else { return nil }
    // Deno
    if let words = message.range(of: " at file://"), let place = places(index).last {
      return add(.error, message[..<words.lowerBound].message, at: place)
    }
    return addGeneral(message.message)
  }

  private static func isProgram(_ text: OutputLine) -> Bool {
    text.allSatisfy { $0.isLetterASCII || $0.isDigitASCII || "-_.+/".utf8.contains($0) }
  }
}
