import Support
import SystemCalls

// Words that are subcommands of other tools, or of shells.

extension Habit {
  static let words: [Habit] = [
    // A restart at each save would do again what the script does by itself.
    Habit { line in
      let isRun = line.first == "run"
      guard let name = isRun ? line.texts.dropFirst().first : line.first,
        ProjectDetection.script(name, in: line.directory)?.watchesByItself == true
      else { return nil }
      let script = ProjectDetection.commandLine(for: name, in: line.directory) ?? ""
      return
        "\(line.lack); the script '\(name.printable)' watches by itself, and needs no watchrun: "
        + script
    },
    Habit(words: [
      "cd", "source", ".", "export", "alias", "set", "unset", "eval", "exec", "if", "for", "while",
      "until", "case", "function", "then", "do", "[[", "!", "{", "ulimit", "umask", "pushd",
    ]) { line in
      let whole = line.texts.joined(separator: " ")
      let isWhole = line.texts.contains { ["&&", "||", ";", "|"].contains($0) }
      let more = isWhole ? "" : line.words.count == 1 ? " …" : " && …"
      return "'\(line.first)' is a command of shells; quote the whole line: "
        + line.line([(whole + more).word])
    },
    Habit { line in
      aliases[line.first].map { command in
        "\(line.lack), and aliases are known to interactive shells only; write: "
          + line.line(command.split(separator: Character(" ")).map { Array($0.utf8) } + line.rest)
      }
    },
    Habit(words: ["run", "exec"]) { line in
      guard let name = line.texts.dropFirst().first else { return nil }
      if let command = line.usual.line(for: name) {
        let words = ShellWords.split(command)?.map(\.word) ?? []
        return "\(line.lack); write: \(line.line(words + line.rest.dropFirst()))"
      }
      if line.directory.findsProgram(name) { return "\(line.lack); write: \(line.line(line.rest))" }
      let lack = "\(line.lack), and no script '\(name.printable)' here"
      return line.usual.run.map { "\(lack); to run what is here: watchrun \($0)" } ?? lack
    },
    Habit(words: ["start", "up"]) { line in
      // browser-sync: `start --server --files '*.css'`, `start --proxy localhost:3000`.
      if line.texts.contains(where: ["--server", "-s", "--ss", "--proxy"].contains) {
        return "\(line.lack); to serve a directory: watchrun --serve DIR; to reload the pages of a "
          + "server: watchrun --proxy URL"
      }
      if let answer = processes(line, line.rest) { return answer }
      guard line.words.count == 1 else { return nil }
      if line.first == "up", line.project != nil {
        return "\(line.lack); to run all tasks: watchrun"
      }
      let command = line.usual.line(for: line.first) ?? line.usual.run
      return command.map { "\(line.lack); write: watchrun \($0)" }
    },
    Habit(words: ["foreman", "overmind", "hivemind", "honcho", "nf"]) { line in
      guard ["start", "s", nil].contains(line.texts.dropFirst().first) else { return nil }
      return processes(line, Array(line.rest.dropFirst()))
    },
    Habit(words: ["serve", "server"]) { line in
      if let path = line.rest.first, line.type(of: path) == .directory {
        return "to serve a directory: \(TypedLine.line(["--serve".word, path]))"
      }
      if let command = line.usual.line(for: line.first) {
        // A word before options may be one for the program.
        let isProgram = !line.rest.isEmpty && command == line.usual.run
        let words = isProgram ? line.words : line.rest
        return "\(line.lack); write: watchrun \(command)"
          + (words.isEmpty
            ? "; to serve a directory: watchrun --serve DIR" : " " + ShellWords.quoted(words))
      }
      return "\(line.lack); to serve a directory: watchrun --serve DIR"
    },
    Habit(words: ["completions", "completion"]) { line in
      let shell = line.texts.dropFirst().first ?? "bash"
      guard CompletionShell(rawValue: shell) != nil else { return nil }
      return "for completions: watchrun --completions \(shell)"
    },
    Habit(words: ["-"]) { line in
      "'-' is no program; for a list of files on standard input: "
        + line.line([], adding: ["--files-from".word, "-".word]) + line.command(line.rest)
    },
    Habit(words: ["man", "manual"]) { _ in "for the manual: watchrun --man" },
    Habit(words: ["explain", "why"]) { line in
      line.rest.isEmpty
        ? nil : "for the rule that decides: \(TypedLine.line(["--explain".word] + line.rest))"
    },
  ]

  /// Aliases that many users have.
  private static let aliases = [
    "ll": "ls -l", "la": "ls -A", "l": "ls -CF", "gs": "git status", "gst": "git status",
  ]

  /// foreman: `start web`, `start -f Procfile.dev`, `start -e .env -p 5000`.
  private static func processes(_ line: TypedLine, _ arguments: [[UInt8]]) -> String? {
    guard ["Procfile", "Procfile.dev"].contains(where: line.directory.holds) else { return nil }
    let names = arguments.prefix { $0.first != UInt8(ascii: "-") }
    return "\(line.lack); write: \(TypedLine.line(Array(names)))"
      + (names.count == arguments.count && !line.options.contains("-f".word)
        ? "" : "; with another file or port: PORT=3000 watchrun --config Procfile.dev")
  }
}

// MARK: - Tools that watch

extension Habit {
  /// The subcommands of watchers, whose programs may exist: they would be run again and again.
  static let tools: [Habit] = [
    Habit(words: ["watch", "cargo"]) { line in
      let isCargo = line.first == "cargo"
      guard !isCargo || line.texts.dropFirst().first == "watch" else { return nil }
      let rest = Array(line.rest.dropFirst(isCargo ? 1 : 0))
      if rest.isEmpty, let script = line.usual.line(for: line.first) {
        return "no task '\(line.first)'; write: watchrun \(script)"
      }
      let meant =
        isCargo || line.directory.holds("Cargo.toml")
        ? TypedLine.ofCargo(rest, line.options) : nil
      let name = isCargo ? "cargo watch" : "watch"
      let command =
        meant ?? (rest.isEmpty || rest[0].first == UInt8(ascii: "-") ? nil : line.line(rest))
      return "'\(name)' watches by itself"
        + (command.map { "; write: \($0)" } ?? "; give the command instead of it")
        + "; for the program: watchrun -- \(ShellWords.quoted(line.words))"
    }
  ]
}

extension TypedLine {
  /// The line for what cargo-watch and watchexec run: `-x check -x test`, `-s 'echo hi'`; `nil` if that is nothing.
  /// A program that is run is restarted, as there.
  static func ofCargo(_ words: [[UInt8]], _ options: [[UInt8]]) -> String? {
    var (others, commands, rest) = ([[UInt8]](), [String](), words[...])
    while let word = rest.popFirst() {
      switch word.decoded {
      case "-x", "--exec":
        if let value = rest.popFirst() { commands.append("cargo " + value.decoded) }
      case "-s", "--shell":
        if let value = rest.popFirst() { commands.append(value.decoded) }
      case "--":
        if !rest.isEmpty { commands.append(ShellWords.quoted(Array(rest))) }
        rest = []
      default: others.append(word)
      }
    }
    guard let last = commands.last else { return nil }
    let isServer = last.hasPrefix("cargo run") && !options.contains("-r".word)
    let command = Self.words(ofLine: commands.joined(separator: " && ").word)
    return line(options + others + (isServer ? ["-r".word] : []) + command)
  }
}
