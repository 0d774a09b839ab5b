import Support

/// What to know about a command before it runs, where it does not do what its author expects.
struct CommandNotes {
  /// The words of the command, or of its shell line if it needs no shell.
  private let words: [[UInt8]]
  private let line: TypedLine
  private let settings: Settings

  init(_ line: TypedLine, _ settings: Settings) {
    self.line = line
    self.settings = settings
    words = line.words.wordsOfLine
  }

  var lines: [String] {
    [placeholder, misplaced, watcher, dependencies].compactMap { $0 }
  }

  /// A word of the command that changed paths replace.
  private var placeholder: String? {
    guard !settings.isPostponed, !settings.isRunByShell,
      let word = ["{}", "{first}"].first(where: { settings.command.contains($0.word) })
    else { return nil }
    let marked = settings.isCommandMarked ? ["--".word] : []
    return "\(word) is left out in the first run, which no change causes; to wait for one: "
      + line.line(marked + line.words, adding: ["-p".word])
  }

  /// An option that hardly any program has, after the command.
  private var misplaced: String? {
    guard !settings.isCommandMarked, line.words.count > 1,
      let option = line.texts.dropFirst().first(where: Self.options.contains)
    else { return nil }
    let rest = line.words.filter { $0 != option.word }
    return "\(option) is given to the command; for watchrun: "
      + line.line(rest, adding: [option.word])
  }

  private static let options: Set = [
    "--once", "--postpone", "--until-success", "--exit-on-error", "--keep-alive", "--no-keys",
  ]

  /// A server that sees changes by itself gains nothing from restarts.
  private var watcher: String? {
    guard !settings.isOneRound,
      ProjectDetection.Script(words, in: line.directory).watchesByItself
    else { return nil }
    let shown = words.count == 1 ? words[0].printable : ShellWords.quoted(words)
    let name = "'\(shown)' watches by itself"
    if settings.busyMode == .restart { return "\(name), and -r restarts it on each change" }
    return settings.hasPage ? nil : "\(name), and needs no watchrun"
  }

  /// Directories outside that the package is made from.
  private var dependencies: String? {
    guard !settings.isOneRound, settings.watched.isEmpty, settings.filesFrom == nil,
      let program = words.first?.decoded
    else { return nil }
    let paths = ProjectDetection.kinds.filter { $0.programs.contains(program) }
      .flatMap { DetectedKind.dependencies(of: $0, in: line.directory) }
    guard !paths.isEmpty else { return nil }
    let watched = TypedLine.watched([".".word] + paths.map(\.word))
    let marked = settings.isCommandMarked ? ["--".word] : []
    return "\(ProjectDetection.some(of: paths)) \(paths.count == 1 ? "is" : "are") used here, and "
      + "not watched; to watch \(paths.count == 1 ? "it" : "them"): "
      + line.line(marked + line.words, adding: watched)
  }
}

extension Settings {
  /// nodemon: `-V` runs the command, and prints more.
  package var noteBesideVersion: String? {
    guard task == .version, !command.isEmpty, optionWords.contains("-V".word) else { return nil }
    let words = optionWords.map { $0 == "-V".word ? "-v".word : $0 }
    return "-V prints the version; to print every decision: \(TypedLine.line(words + command))"
  }
}
