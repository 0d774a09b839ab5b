import Support
import SystemCalls

/// Explains why a command cannot be started, and what to type instead.
package struct LaunchAdvice {
  let words: [[UInt8]]
  let directory: Path

  package init(words: [[UInt8]], directory: Path) {
    (self.words, self.directory) = (words, directory)
  }

  /// The end of a message that begins with "cannot run …:".
  package func explanation(of error: SystemError) -> String {
    let program = error.path ?? Path(bytes: words.first ?? [])
    switch error.code {
    case ENOENT, ENOTDIR:
      return program.bytes.contains(UInt8(ascii: "/"))
        ? missingFile(program) : missingProgram(program)
    case EACCES:
      return habit
        ?? "it is not executable; make it executable: chmod +x \(ShellWords.quoted(program.bytes))"
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
        + "sed -i 's/\\r$//' \(ShellWords.quoted(program.bytes))"
    }
    return "the interpreter of \(program) does not exist: \(interpreter); correct its first line"
  }

  private func missingProgram(_ program: Path) -> String {
    if let habit { return habit }
    let lack = "no program '\(program)' in PATH"
    return program.bytes.contains(where: Array(" \t\n".utf8).contains)
      ? "\(lack); a shell line needs a shell: leave out --shell none"
      : "\(lack); check the name, or install it"
  }

  private var habit: String? {
    Habit.advice(for: TypedLine(words: words, directory: ProjectDirectory(path: directory)))
  }

  private func interpreter(of path: Path) -> Path? {
    guard let bytes = try? fileContents(of: path), bytes.starts(with: "#!".utf8) else { return nil }
    let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let name = line.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
    return Path(bytes: name)
  }
}

/// Explains why a path to watch does not exist, if it was probably meant otherwise.
package enum WatchAdvice {
  /// - Parameter path: The path as it was given.
  package static func explanation(of path: Path, in directory: Path) -> String? {
    let lack = "cannot watch \(path): no such path"
    if path.bytes.contains(where: Array("*?[{".utf8).contains) {
      return "\(lack), and -w takes no patterns; filter by one: -f \(ShellWords.quoted(path.bytes))"
    }
    for separator in [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: ":")] {
      let parts = path.bytes.split(separator: separator).map { Path(bytes: $0) }
      let exist = parts.contains { (try? FileStatus(of: $0.absolute(from: directory))) != nil }
      guard parts.count > 1, exist else { continue }
      let options = parts.map { "-w " + ShellWords.quoted($0.bytes) }.joined(separator: " ")
      return "\(lack); give -w before each: \(options)"
    }
    if path.bytes.first == UInt8(ascii: "~") {
      return "\(lack); shells expand ~ only at the beginning of a word: -w \(path)"
    }
    return nil
  }
}
