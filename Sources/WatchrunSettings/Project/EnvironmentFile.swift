import ActionRunning
import Support
import SystemCalls

/// A file of variables in dotenv syntax, such as `.env`.
///
/// It is read as foreman and docker compose read it, where both agree or only one reads it at all: `export`, comments,
/// spaces around names and values, quoted values of several lines. Nothing in a value is expanded.
package enum EnvironmentFile {
  struct Problem: Error, Hashable {
    let line: Int
    let message: String

    init(_ line: Int, _ message: String) { (self.line, self.message) = (line, message) }
  }

  /// The variables of a file that is named, which must exist.
  package static func variables(
    of file: Path, in directory: Path
  ) throws(Failure) -> [Command.EnvironmentVariable] {
    let text: [UInt8]?
    do throws(SystemError) {
      text = try fileContents(of: file.absolute(from: directory))
    } catch {
      throw .usage("cannot read the variables of \(file): \(error.reason)")
    }
    guard let text else {
      let exists = (try? FileStatus(of: file.absolute(from: directory), followsLinks: true)) != nil
      throw .usage(
        "cannot read the variables of \(file): "
          + (exists
            ? "it is not a regular file; name a file with lines NAME=VALUE"
            : "there is no such file; create it, or do not name it"))
    }
    do throws(Problem) {
      return try variables(in: text)
    } catch {
      throw .usage("\(file):\(error.line): \(error.message)")
    }
  }

  static func variables(in text: [UInt8]) throws(Problem) -> [Command.EnvironmentVariable] {
    var reader = LineReader(text: text)
    var variables: [Command.EnvironmentVariable] = []
    while !reader.isAtEnd {
      if let variable = try reader.variable() { variables.append(variable) }
    }
    return variables
  }
}

/// Reads one assignment after the other.
private struct LineReader {
  private var rest: ArraySlice<UInt8>
  private var line = 1

  init(text: [UInt8]) { rest = text.withoutByteOrderMark }

  var isAtEnd: Bool { rest.isEmpty }

  /// The variable of the next line; `nil` for a comment, an empty line, and a name alone, which is inherited anyway.
  mutating func variable() throws(EnvironmentFile.Problem) -> Command.EnvironmentVariable? {
    let start = line
    var text = trimmed(rest.prefix { $0 != Self.newline })
    if text.isEmpty || text.first == UInt8(ascii: "#") {
      endLine()
      return nil
    }
    let export = Array("export".utf8)
    if text.starts(with: export), text.dropFirst(export.count).first.map(isSpace) == true {
      text = trimmed(text.dropFirst(export.count))
    }
    let name = text.prefix { $0 != UInt8(ascii: "=") }
    let (plain, hasValue) = (trimmed(name), name.endIndex != text.endIndex)
    guard !plain.isEmpty, plain.allSatisfy(isNameByte) else {
      throw .init(
        start, "'\(ProjectText.abridged(text.printable))' is not a variable; write NAME=VALUE")
    }
    rest = rest[min(name.endIndex + (hasValue ? 1 : 0), rest.endIndex)...]
    let value = try value(of: plain)
    if value.contains(0) {
      throw .init(
        start,
        "the value of \(plain.printable) contains a NUL byte, which no variable can; remove it")
    }
    return hasValue ? .init(name: Array(plain), value: value) : nil
  }

  /// The value up to the end of its line, without quotes. Only in double quotes is a backslash special.
  private mutating func value(of name: ArraySlice<UInt8>) throws(EnvironmentFile.Problem) -> [UInt8]
  {
    let start = line
    let isBlank = { (byte: UInt8) in isSpace(byte) && byte != Self.newline }
    let spaces = rest.prefix(while: isBlank)
    rest = rest[spaces.endIndex...]
    guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
      let text = rest.prefix { $0 != Self.newline }
      // A comment follows a space, so that values may contain the sign.
      let comment = text.indices.first { index in
        text[index] == UInt8(ascii: "#")
          && (index == text.startIndex ? !spaces.isEmpty : isSpace(text[index - 1]))
      }
      endLine()
      return Array(trimmed(text[..<(comment ?? text.endIndex)]))
    }
    rest.removeFirst()
    var value: [UInt8] = []
    while true {
      guard let byte = rest.popFirst() else {
        throw .init(
          start,
          "the quote of \(name.printable) is not closed; close it, or write the value without quotes"
        )
      }
      if byte == quote { break }
      if byte == Self.newline { line += 1 }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = rest.popFirst() {
        value.append(Self.escapes[next] ?? next)
      } else {
        value.append(byte)
      }
    }
    let tail = trimmed(rest.prefix { $0 != Self.newline })
    if !tail.isEmpty && tail.first != UInt8(ascii: "#") {
      throw .init(
        line,
        "'\(ProjectText.abridged(tail.printable))' follows the quoted value of \(name.printable); "
          + "escape inner quotes as \\\", or quote with the other kind")
    }
    endLine()
    return value
  }

  private mutating func endLine() {
    rest = rest.drop { $0 != Self.newline }.dropFirst()
    line += 1
  }

  private func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = text.drop(while: isSpace)
    return start[..<((start.lastIndex { !isSpace($0) }.map { $0 + 1 }) ?? start.startIndex)]
  }

  private static let newline = UInt8(ascii: "\n")
  private static let escapes = [
    UInt8(ascii: "n"): UInt8(ascii: "\n"), UInt8(ascii: "r"): UInt8(ascii: "\r"),
    UInt8(ascii: "t"): UInt8(ascii: "\t"),
  ]
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

/// Letters, digits, `_`, and what docker compose allows as well.
private func isNameByte(_ byte: UInt8) -> Bool {
  JSONParser.isNameByte(byte) && byte < 0x80 && byte != UInt8(ascii: "$")
    || byte == UInt8(ascii: ".")
    || byte == UInt8(ascii: "-")
}

// MARK: - Settings

extension Project.Task {
  /// Reads the files, and keeps what the environment of this process does not have: what is set already is stronger.
  fileprivate mutating func readFiles(_ files: [Path], in directory: Path) throws(Failure) {
    for file in files {
      fileVariables += try EnvironmentFile.variables(of: file, in: directory)
    }
    if fileVariables.isEmpty { return }
    let inherited = Set(
      processEnvironment().map { Array($0.prefix { $0 != UInt8(ascii: "=") }) })
    fileVariables.removeAll { inherited.contains($0.name) }
  }
}

extension Settings {
  package func readingEnvironmentFiles(in directory: Path) throws(Failure) -> Settings {
    var settings = self
    try settings.own.readFiles(self.environmentFiles, in: directory)
    return settings
  }
}

extension Project {
  package func readingEnvironmentFiles(in directory: Path) throws(Failure) -> Project {
    var project = self
    for index in tasks.indices {
      try project.tasks[index].readFiles(
        environmentFiles + tasks[index].environmentFiles, in: directory)
    }
    return project
  }

  /// The files with variables of all tasks, each once.
  package var allEnvironmentFiles: [Path] {
    var known: Set<Path> = []
    return (environmentFiles + tasks.flatMap { $0.environmentFiles }).filter {
      known.insert($0).inserted
    }
  }
}
