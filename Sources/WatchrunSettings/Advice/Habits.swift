import Support
import SystemCalls

/// What users of other tools type as the command, and what to type instead.
///
/// A row is asked about a first word that is no task and no program. The first one that answers is
/// used.
struct Habit: Sendable {
  /// The first words it is about; empty for any.
  var words: Set<String> = []
  /// What to say; `nil` if it is something else.
  let answer: @Sendable (TypedLine) -> String?

  /// What to say about a line; `nil` if nothing is known about it.
  static func advice(for line: TypedLine, among rows: [Habit] = rows) -> String? {
    let first = line.first
    return rows.firstResult { row in
      row.words.isEmpty || row.words.contains(first) ? row.answer(line) : nil
    }
  }

  static let rows: [Habit] =
    paths + words + [patterns, assignments, quotedLines, options, project]
}

// MARK: - Paths

extension Habit {
  private static let paths = [
    Habit { ForeignFile.advice(for: $0.first, in: $0.directory) },
    Habit { line in
      guard let path = line.words.first, line.type(of: path) == .directory else { return nil }
      let name = "'\(Path(bytes: path))' is a directory"
      let (paths, rest) = line.leadingPaths
      if line.isOfNotifier {
        return "\(name), and -e lists extensions; to wait for a change: \(line.waiting(paths)); "
          + "to print changes: \(line.printing(paths))"
      }
      let isAlone = rest.isEmpty && paths.count == 1
      let page =
        isAlone && line.holds("index.html", in: path)
        ? "to serve it: \(TypedLine.line(["--serve".word, path])); " : ""
      let print =
        line.isPiped && rest.isEmpty ? "to print the changes in it: \(line.printing(paths)); " : ""
      // The current directory is watched anyway.
      let isDefault = paths == [".".word] || paths == ["./".word]
      return "\(name); \(page)\(print)to watch it: "
        + (isDefault ? line.line([]) + line.command(rest) : line.watching(paths, rest))
    },
    Habit { line in
      guard let path = line.words.first, line.type(of: path) == .file else { return nil }
      let isProgram = isExecutable(Path(bytes: path).absolute(from: line.directory.path))
      if isProgram && path.contains(UInt8(ascii: "/")) { return nil }
      let (paths, rest) = line.leadingPaths
      if !rest.isEmpty, paths.count > 1 || line.isProgram(rest[0]) {
        return "'\(Path(bytes: path))' is a file, not a program; to watch "
          + (paths.count > 1 ? "several paths" : "it") + ": \(line.watching(paths, rest))"
      }
      guard let command = Interpreter.command(line.words, isProgram: isProgram) else {
        if path.contains(UInt8(ascii: "/")) { return nil }
        return "'\(Path(bytes: path))' is a file, not a program; to watch it: "
          + line.watching([path], [])
      }
      let isRestarted = line.isServer(path) && !line.options.contains("-r".word)
      let own = line.line(command, adding: isRestarted ? ["-r".word] : [])
      return path.contains(UInt8(ascii: "/"))
        ? "\(Path(bytes: path)) is not executable; write: \(own)"
        : "\(line.lack); for the file here: \(own)"
    },
  ]
}

extension TypedLine {
  func type(of path: [UInt8]) -> FileType? {
    path.isEmpty ? nil : directory.type(of: Path(bytes: path))
  }

  func holds(_ name: String, in path: [UInt8]) -> Bool {
    ProjectDirectory(path: Path(bytes: path).absolute(from: directory.path)).holds(name)
  }

  /// Whether a file seems to start a server, which runs until it is restarted.
  func isServer(_ path: [UInt8]) -> Bool {
    [".listen(", "createServer(", "app.run(", "uvicorn.run(", "serve_forever("].contains {
      directory.holds([path.decoded], with: $0)
    }
  }

  func isProgram(_ word: [UInt8]) -> Bool { directory.findsProgram(word.decoded) }

  /// The words at the beginning that are paths, and the others.
  var leadingPaths: (paths: [[UInt8]], rest: [[UInt8]]) {
    let paths = Array(words.prefix { type(of: $0) != nil && !isProgram($0) })
    return (paths, Array(words.dropFirst(paths.count)))
  }
}

/// What runs a file that is no program.
enum Interpreter {
  /// - Parameter isProgram: Whether the file is executable.
  static func command(_ words: [[UInt8]], isProgram: Bool) -> [[UInt8]]? {
    guard let file = words.first else { return nil }
    if isProgram { return [Array("./".utf8) + file] + words.dropFirst() }
    let name = String(decoding: Path(bytes: file).lastComponent, as: UTF8.self)
    let parts = name.split(separator: Character("."))
    guard parts.count > 1, let ending = parts.last.map(String.init) else { return nil }
    if let compiler = compilers[ending] {
      let program = String(name.dropLast(ending.utf8.count + 1))
      let line =
        "\(compiler) \(ShellWords.quoted(file)) -o \(ShellWords.quoted(program.word)) && "
        + ShellWords.quoted([Array("./".utf8) + program.word] + words.dropFirst())
      return [line.word]
    }
    if ending == "py", name.hasPrefix("test_") || name.hasSuffix("_test.py") {
      return ["python3".word, "-m".word, "pytest".word] + words
    }
    return interpreters[ending].map {
      $0.split(separator: Character(" ")).map { Array($0.utf8) } + words
    }
  }

  private static let interpreters = [
    "py": "python3", "js": "node", "mjs": "node", "cjs": "node", "ts": "npx tsx", "rb": "ruby",
    "pl": "perl", "sh": "sh", "bash": "bash", "zsh": "zsh", "fish": "fish", "go": "go run",
    "lua": "lua", "php": "php", "swift": "swift", "R": "Rscript", "jl": "julia", "exs": "elixir",
    "java": "java",
  ]

  private static let compilers = [
    "c": "cc", "cc": "c++", "cpp": "c++", "cxx": "c++", "rs": "rustc",
  ]
}

// MARK: - Patterns, assignments, lines and options

extension Habit {
  private static let patterns = Habit { line in
    guard line.first.contains(where: { "*?[]^$\\".contains($0) }),
      !line.first.contains(where: { " \t\n=".contains($0) })
    else { return nil }
    let isPattern = { (word: String) in word.contains { "*?[^$\\".contains($0) } }
    let patterns = line.texts.prefix(while: isPattern)
    var rest = Array(line.words.dropFirst(patterns.count))
    var flags: [[UInt8]] = []
    // The options of chokidar and onchange.
    let command = rest.firstIndex {
      ["-c", "--command"].contains($0.decoded)
    }
    if let command, command + 1 < rest.count {
      flags = rest
      rest = TypedLine.words(ofLine: rest[command + 1])
    } else if let mark = rest.firstIndex(of: "--".word) {
      flags = Array(rest[..<mark])
      rest = Array(rest[(mark + 1)...])
    }
    let options =
      patterns.flatMap { Pattern.option(for: $0) ?? ["-f", "*.go"] }
      + flags.compactMap { Pattern.flags[$0.decoded] }
    let isKnown = patterns.allSatisfy { Pattern.option(for: $0) != nil }
    return "'\(line.first.printable)' is a pattern, not a program; "
      + (isKnown ? "write: " : "patterns are globs, as in: ")
      + line.line([], adding: options.map(\.word)) + line.command(rest)
  }

  private static let assignments = Habit { line in
    guard let cut = line.first.firstIndex(of: "="), cut != line.first.startIndex,
      line.first[..<cut].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    let variable = ["-E".word, line.words[0]]
    return
      "\(line.lack); to set a variable: \(line.line([], adding: variable))\(line.command(line.rest))"
  }

  private static let quotedLines = Habit { line in
    guard line.words.count > 1, line.first.contains(where: \.isWhitespace),
      !line.first.includes("/")
    else { return nil }
    if line.rest.allSatisfy(Option.isFlag) {
      return "\(line.lack); options are first: \(line.line([line.words[0]], adding: line.rest))"
    }
    if line.texts.dropFirst().allSatisfy({
      $0.contains(where: \.isWhitespace) || $0.hasPrefix("./")
    }) {
      return "\(line.lack); to run one after the other: "
        + line.line([line.texts.joined(separator: " && ").word])
    }
    let apart = ShellWords.split(line.first) ?? []
    return "\(line.lack); write its words apart: \(line.line(apart.map(\.word) + line.rest))"
  }

  private static let options = Habit { line in
    guard line.first.utf8.first == UInt8(ascii: "-") else { return nil }
    let isTest = line.directory.holds("pytest.ini") || line.usual.test?.includes("pytest") == true
    let program = isTest ? line.usual.test : line.usual.run ?? line.usual.test
    let lack = "'\(line.first.printable)' is an option of a program, which is missing"
    guard let program else { return "\(lack); write it before its options" }
    return "\(lack); write: watchrun \(program) \(ShellWords.quoted(line.words))"
  }
}

/// A pattern of another tool.
package enum Pattern {
  /// The options of chokidar and onchange that have counterparts.
  static let flags = ["--polling": "--poll", "--silent": "-q", "--verbose": "-v", "-k": "-r"]

  /// The option that means the same; `nil` if a regular expression is none of the usual ones.
  package static func option(for pattern: String) -> [String]? {
    var rest = pattern[...]
    if rest.hasPrefix("\\.") || rest.hasPrefix(".*\\.") {
      rest = rest.hasPrefix(".") ? rest.dropFirst(4) : rest.dropFirst(2)
      if rest.hasSuffix("$") { rest = rest.dropLast() }
      if rest.hasPrefix("("), rest.hasSuffix(")") { rest = rest.dropFirst().dropLast() }
      let names = rest.split(separator: Character("|"))
      guard !names.isEmpty, names.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber } })
      else { return nil }
      return ["-e", names.joined(separator: ",")]
    }
    return pattern.contains { "\\^$|".contains($0) } ? nil : ["-f", pattern]
  }
}

extension TypedLine {
  /// The words of a shell line if it needs no shell, or the line.
  static func words(ofLine line: [UInt8]) -> [[UInt8]] {
    let text = line.decoded
    let plain = text.utf8.filter { $0 != UInt8(ascii: " ") }
    guard !ShellLine(line: Array(plain)).needsShell, let words = ShellWords.split(text) else {
      return [line]
    }
    return words.map(\.word)
  }
}

extension [[UInt8]] {
  /// The words of a command, also of a shell line that needs no shell.
  var wordsOfLine: [[UInt8]] { count == 1 ? TypedLine.words(ofLine: self[0]) : self }
}

// MARK: - The project

extension Habit {
  /// Names of scripts, targets and recipes, and of subcommands of the project's tool.
  private static let project = Habit { line in
    let isName =
      (line.words.count == 1 || line.rest.first?.first == UInt8(ascii: "-"))
      && !line.first.includes("/")
    guard isName, let command = line.usual.line(for: line.first) else { return nil }
    let words = ShellWords.split(command)?.map(\.word) ?? []
    let rest = line.rest
    let options = rest.allSatisfy(Option.isFlag) ? rest : []
    return "\(line.lack); write: "
      + line.line(words + (options.isEmpty ? rest : []), adding: options)
  }
}

extension Option {
  /// Whether a word is one of our options, without a value.
  fileprivate static func isFlag(_ word: [UInt8]) -> Bool {
    named(word.decoded).map { $0.value == nil } ?? false
  }
}
