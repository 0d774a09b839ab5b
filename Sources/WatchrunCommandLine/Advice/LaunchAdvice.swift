import Support
import SystemCalls

/// Explains why a command cannot be started, and what to type instead.
struct LaunchAdvice {
  /// The words of the command.
  let words: [[UInt8]]
  /// The directory in which the command runs.
  let directory: Path

  /// The end of a message that begins with "cannot run …:".
  func explanation(of error: SystemError) -> String {
    let program = error.path ?? Path(bytes: words.first ?? [])
    switch error.code {
    case ENOENT, ENOTDIR:
      return program.bytes.contains(UInt8(ascii: "/"))
        ? missingFile(program) : missingProgram(program)
    case EACCES:
      return notExecutable(program)
    case E2BIG:
      return "its arguments and its environment are too long for the kernel"
    case ETXTBSY:
      return "\(program) is open for writing in another process"
    case ENOEXEC:
      return "\(program) is neither a program nor a script with a #! line"
    default:
      return error.description
    }
  }

  // MARK: - Missing

  /// A path that does not exist, or whose interpreter does not.
  private func missingFile(_ program: Path) -> String {
    let path = program.absolute(from: directory)
    guard let status = try? FileStatus(of: path, followsLinks: true), status.type == .file else {
      return "there is no file \(program)"
    }
    guard let interpreter = interpreter(of: path) else {
      return "the dynamic linker that \(program) needs is not installed"
    }
    if interpreter.bytes.last == UInt8(ascii: "\r") {
      return "the first line of \(program) ends with a carriage return; remove it: "
        + "sed -i 's/\\r$//' \(quoted(program))"
    }
    return "the interpreter of \(program) does not exist: \(interpreter); correct its first line"
  }

  private func missingProgram(_ program: Path) -> String {
    let lack = "no program '\(program)' in PATH"
    let path = directory.appending(program.bytes)
    if let status = try? FileStatus(of: path, followsLinks: true) {
      if status.type == .directory {
        return "'\(program)' is a directory; to watch it: watchrun -w \(quoted(program)) "
          + (words.count > 1 ? ShellWords.quoted(Array(words.dropFirst())) : "COMMAND")
      }
      guard let line = commandLine(forFile: program) else {
        return "'\(program)' is a file, not a program; to watch several paths, give -w before each"
      }
      return "\(lack); for the file here: watchrun \(line)"
    }
    if program.bytes.contains(where: Array(" \t\n".utf8).contains) {
      return words.count == 1
        ? "\(lack); a shell line needs a shell: leave out --shell none"
        : "\(lack); write its words apart: watchrun \(unquotedLine)"
    }
    if program.bytes.contains(where: Array("*?[]^$\\".utf8).contains) {
      return "'\(program)' is not a program; give patterns with -f, as in: -f '*.go'"
    }
    if let cut = program.bytes.firstIndex(of: UInt8(ascii: "=")), cut > 0 {
      let rest = words.count > 1 ? ShellWords.quoted(Array(words.dropFirst())) : "COMMAND"
      return "\(lack); to set a variable: watchrun -E \(quoted(program)) \(rest)"
    }
    if Self.shellWords.contains(program.description) {
      let isWhole = words.contains { Self.operators.contains(Path(bytes: $0).description) }
      let rest = isWhole ? "" : words.count == 1 ? " …" : " && …"
      return "'\(program)' is a command of shells; quote the whole line: watchrun "
        + ShellWords.quoted(Array((unquotedLine + rest).utf8))
    }
    let project = ProjectDirectory(path: directory)
    if words.count == 1,
      let line = ProjectDetection.commandLine(for: program.description, in: project)
    {
      return "\(lack); write: watchrun \(line)"
    }
    if let advice = Self.subcommands[program.description] { return "\(lack); \(advice)" }
    return "\(lack); check the name, or install it"
  }

  /// Builtins and reserved words that are programs nowhere.
  private static let shellWords: Set = [
    "cd", "source", ".", "export", "alias", "set", "unset", "eval", "exec", "if", "for", "while",
    "until", "case", "function", "then", "do", "[[", "!", "{", "ulimit", "umask", "pushd",
  ]

  private static let operators: Set = ["&&", "||", ";", "|"]

  /// Words that are subcommands in other tools.
  private static let subcommands = [
    "run": "the command follows the options, as in: watchrun npm run dev",
    "exec": "the command follows the options, as in: watchrun make test",
    "watch": "the command follows the options, as in: watchrun make test",
    "start": "the command follows the options, as in: watchrun -r npm start",
    "serve": "to serve a directory: watchrun --serve DIR",
    "dev": "the command follows the options, as in: watchrun -r npm run dev",
  ]

  // MARK: - Not executable

  private func notExecutable(_ program: Path) -> String {
    let path = program.absolute(from: directory)
    let status = try? FileStatus(of: path, followsLinks: true)
    if status?.type == .directory {
      let command =
        words.count > 1 ? ShellWords.quoted(Array(words.dropFirst())) : "COMMAND"
      return "it is a directory; to watch it: watchrun -w \(quoted(program)) \(command)"
    }
    return "it is not executable; "
      + (commandLine(forFile: program).map { "run it by its interpreter: watchrun \($0)" }
        ?? "make it executable: chmod +x \(quoted(program))")
  }

  /// The command line that runs a file of the directory; `nil` if nothing is known that can.
  private func commandLine(forFile file: Path) -> String? {
    if isExecutable(file.absolute(from: directory)) {
      let isBare = !file.bytes.contains(UInt8(ascii: "/"))
      let program = (isBare ? Array("./".utf8) : []) + file.bytes
      return ShellWords.quoted([program] + words.dropFirst())
    }
    let name = String(decoding: file.lastComponent, as: UTF8.self)
    let ending = name.split(separator: Character(".")).last.map(String.init) ?? ""
    return Self.interpreters[ending].map { "\($0) \(ShellWords.quoted(words))" }
  }

  private static let interpreters = [
    "py": "python3", "js": "node", "mjs": "node", "cjs": "node", "ts": "npx tsx", "rb": "ruby",
    "pl": "perl", "sh": "sh", "bash": "bash", "zsh": "zsh", "fish": "fish", "go": "go run",
    "lua": "lua", "php": "php", "swift": "swift", "R": "Rscript", "jl": "julia", "exs": "elixir",
  ]

  /// The interpreter that the `#!` line of a file names.
  private func interpreter(of path: Path) -> Path? {
    guard let bytes = try? fileContents(of: path), bytes.starts(with: "#!".utf8) else { return nil }
    let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let name = line.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
    return Path(bytes: name)
  }

  // MARK: - Text

  private func quoted(_ path: Path) -> String { ShellWords.quoted(path.bytes) }

  private var unquotedLine: String {
    Path(bytes: Array(words.joined(separator: [UInt8(ascii: " ")]))).description
  }
}
