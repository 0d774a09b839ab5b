import Support
import SystemCalls

extension ProjectDetection {
  /// A command line, such as a script of `package.json` or a process of a Procfile, as far as its words tell what
  /// it starts.
  package struct Script {
    let line: String
    private let directory: ProjectDirectory

    init(_ line: String, in directory: ProjectDirectory) {
      (self.line, self.directory) = (line, directory)
    }

    /// - Parameter words: The words of a command, or its shell line.
    package init(_ words: [[UInt8]], in directory: ProjectDirectory) {
      let words = words.wordsOfLine
      self.init(
        words.count == 1 ? words[0].decoded : ShellWords.quoted(words), in: directory)
    }

    /// Whether a program that it starts sees changes by itself, so that restarts do harm.
    package var watchesByItself: Bool { starts { Self.watches($0, $1) } }

    /// Whether it starts a compiler that takes what was saved while it worked for up to date from then on.
    var comparesTimes: Bool {
      starts { words, _ in
        words.first == "tsc" && words.contains { ["-b", "--build"].contains($0) }
      }
    }

    private func starts(_ isMeant: ([String], [String]) -> Bool) -> Bool {
      var followed: Set<String> = []
      return find(&followed) { isMeant($0, $1) ? "" : nil } != nil
    }

    /// How many commands are followed to what they start.
    private static let mostFollowed = 256

    /// The first answer about the words and the variables of a program that it starts, itself or by a script.
    ///
    /// - Parameters:
    ///   - followed: The commands whose own commands were looked at, since scripts may start each other.
    ///   - inherited: The variables that are set for the line.
    func find(
      _ followed: inout Set<String>, with inherited: [String] = [],
      _ ask: ([String], [String]) -> String?
    ) -> String? {
      for command in commands {
        let own = command.variables
        let variables =
          inherited.filter { outer in
            !own.contains { $0.hasPrefix(outer.prefix { $0 != "=" } + "=") }
          } + own
        if let answer = command.stages.firstResult({ ask($0, variables) }) { return answer }
        guard followed.count < Self.mostFollowed,
          command.stages.contains(where: { Self.mayStart($0) }),
          followed.insert("\(command.directory.path) \(variables) \(command.words)").inserted
        else { continue }
        for line in started(by: command) {
          if let answer = line.find(&followed, with: variables, ask) { return answer }
        }
      }
      return nil
    }
  }
}

// MARK: - Commands

extension ProjectDetection.Script {
  /// A command of the line, and where it runs.
  struct Command {
    var words: [String]
    /// The same, and what that program starts with its arguments, one after the other: `npx vite`, `vite`.
    var stages: [[String]]
    /// What is set for it: `CI=1`.
    var variables: [String]
    var directory: ProjectDirectory
  }

  /// How many programs may start each other by their arguments.
  private static let mostStages = 16

  var commands: [Command] {
    var place = directory
    let words =
      ShellWords.split(line, operators: ";|()&")
      // An apostrophe in a comment begins no quotation.
      ?? ShellWords.split(line.filter { !"'\"".contains($0) }, operators: ";|()&") ?? []
    return words.split(whereSeparator: ["&&", "||", "|", ";", "&", "(", ")"].contains).map { part in
      let words = Array(part.drop { ["env", "exec"].contains($0) || Self.isAssignment($0) })
      if words.first == "cd", words.count > 1 {
        place = ProjectDirectory(path: Path(words[1]).absolute(from: place.path))
      }
      var stages: [[String]] = []
      var rest = part
      while stages.count < Self.mostStages, let next = Self.started(by: rest) {
        stages.append(Array(rest))
        rest = next
      }
      stages.append(Array(rest))
      return Command(
        words: words, stages: stages, variables: part.filter(Self.isAssignment), directory: place)
    }
  }

  /// The lines that a command runs: a script of `package.json` or several, a script of a shell, or its words.
  private func started(by command: Command) -> [Self] {
    command.stages.flatMap { started(by: $0, in: command.directory) }
  }

  /// Whether ``started(by:)`` may know lines of this program.
  private static func mayStart(_ words: [String]) -> Bool {
    words.first.map { $0.contains("/") || starters[name(of: $0)] != nil } ?? false
  }

  /// Programs, and what their arguments are: a script of `package.json`, a file, lines, or both.
  private static let starters = table(
    """
    npm yarn pnpm bun lerna nx turbo | script
    deno composer | task
    sh bash dash zsh | file
    su npx nix-shell script remix | lines
    concurrently npm-run-all run-p run-s | both
    """)

  private func started(by words: [String], in directory: ProjectDirectory) -> [Self] {
    guard let program = words.first, Self.mayStart(words) else { return [] }
    let words = words.dropFirst()
    var lines: [(String, ProjectDirectory)] = []
    switch Self.starters[Self.name(of: program)]?.first {
    case "script"?:
      return Self.managed(Self.name(of: program), words, in: directory)
    case "task"?:
      let names = words.filter { !$0.hasPrefix("-") && !Self.runs.contains($0) }
      let scripts =
        Self.name(of: program) == "composer"
        ? names.compactMap { ProjectDetection.composerScript($0, in: directory) }
        : names.first == "task"
          ? names.dropFirst().compactMap { ProjectDetection.denoTask($0, in: directory) } : []
      lines = scripts.map { ($0.line, directory) }
    case "file"?:
      // An option may have a value: `bash -eo pipefail build.sh`.
      let text = words.firstResult { $0.hasPrefix("-") ? nil : Self.text(of: $0, in: directory) }
      let own = text.map(Self.lines(ofScript:)) ?? []
      lines = (words.filter { $0.contains(" ") } + own).map { ($0, directory) }
    case "lines"?:
      lines = words.filter { $0.contains(" ") }.map { ($0, directory) }
    case "both"?:
      let names = words.map { $0.split(separator: Character(":"), maxSplits: 1) }.map { parts in
        Self.managers.contains(String(parts.first ?? ""))
          ? parts.last ?? "" : parts.joined(separator: ":")[...]
      }
      lines = words.filter { $0.contains(" ") }.map { ($0, directory) }
      lines += names.flatMap { name in
        ProjectDetection.scripts(in: directory).filter { script, _ in
          name.last == "*" ? script.hasPrefix(name.dropLast()) : script == name
        }.map { ($0.value, directory) }
      }
    default:
      if Self.interpreter(of: program, in: directory)?.hasSuffix("sh") == true,
        let text = directory.text(of: program)
      {
        lines = Self.lines(ofScript: text).map { ($0, directory) }
      }
    }
    return lines.map { Self($0.0, in: $0.1) }
  }

  /// The commands of a script of a shell. Comments are not continued.
  private static func lines(ofScript text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).filter {
      !$0.drop(while: \.isWhitespace).hasPrefix("#")
    }.joined(separator: "\n").logicalLines
  }

  private static let longestScript: UInt64 = 65536

  /// The text of a script that is not too long.
  private static func text(of file: String, in directory: ProjectDirectory) -> String? {
    let path = Path(file).absolute(from: directory.path)
    guard let status = try? FileStatus(of: path, followsLinks: true), status.type == .file,
      status.size <= longestScript
    else { return nil }
    return directory.text(of: file)
  }

  /// The program in the first line of a script: `ruby` of `#!/usr/bin/env ruby`.
  private static func interpreter(of program: String, in directory: ProjectDirectory) -> String? {
    guard program.contains("/"), let text = text(of: program, in: directory), text.hasPrefix("#!")
    else { return nil }
    let words = text.prefix { !$0.isNewline }.split { " /!".contains($0) }
    return words.last { !$0.hasPrefix("-") }.map(String.init)
  }
}

// MARK: - What a process is restarted by

extension ProjectDetection.Script {
  /// The paths whose changes restart it as a service: none if it sees changes by itself, and what only a restart
  /// applies if Rails loads its code anew.
  var watched: [String] {
    if watchesByItself { return [] }
    guard directory.holds("config/application.rb"), !line.includes("RAILS_ENV=production"),
      commands.contains(where: { $0.stages.contains(where: Self.loadsRails) })
    else { return ["."] }
    return ["config", "lib", "Gemfile.lock"].filter { directory.type(of: Path($0)) != nil }
  }

  private static func loadsRails(_ words: [String]) -> Bool {
    switch name(of: words.first ?? "") {
    case "jobs", "puma", "sidekiq": true
    case "rails": words.contains("server") || words.contains("s")
    default: false
    }
  }

  /// Patterns for the sources of languages other than that of its program, which has no use for them.
  var ignored: [String] {
    let kinds = [ProjectDetection.node, ProjectDetection.python, ProjectDetection.ruby]
    guard let command = commands.last(where: { $0.words.first != "cd" }),
      let word = command.words.first
    else { return [] }
    let program =
      Self.interpreter(of: word, in: command.directory)
      ?? String(word.split(separator: Character("/")).last ?? "")
    guard let own = kinds.first(where: { $0.programs.contains(program) }) else { return [] }
    // Any language reads data and pages.
    return kinds.filter { $0.name != own.name }.flatMap(\.sources).filter {
      $0.hasPrefix("*.") && !["*.json", "*.html"].contains($0)
    }
  }
}

extension ProjectDetection {
  /// For messages: what watches by itself, and what follows for one or several; `nil` for nothing.
  static func watching(_ names: [String], _ one: String, _ several: String) -> String? {
    if names.isEmpty { return nil }
    let end =
      names.count == 1 ? "watches by itself, and \(one)" : "watch by themselves, and \(several)"
    return "\(some(of: names)) \(end)"
  }
}

extension Project {
  /// For messages: the processes of a Procfile that no change restarts; `nil` if there is none.
  var unrestarted: String? {
    let names = tasks.filter { $0.isService && $0.watched.isEmpty }.map(\.name)
    return ProjectDetection.watching(names, "is not restarted", "are not restarted")
  }
}
