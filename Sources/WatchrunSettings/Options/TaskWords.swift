import ActionRunning
import Support
import SystemCalls

/// Decides whether the words of a command line name tasks or a program.
///
/// Words that all name tasks mean these tasks; anything else is a program with its arguments. After a leading `--`
/// there is always a program, and after one that follows a single task, arguments for its command.
struct TaskWords {
  /// The tasks and pages that can be named, and where they come from.
  struct Project {
    let names: [String]
    /// The tasks that stand for others.
    let groups: [String]

    /// Whether a word names a task, or those of several directories.
    func hasTask(_ name: String) -> Bool { names.contains(name) || groups.contains(name) }

    /// For people: "watchrun.json", or "this project" if it has no file.
    let source: String
  }

  let line: TypedLine
  private var words: [[UInt8]] { line.words }
  private var project: Project? { line.project }

  /// Whether the words can name tasks.
  static func mayBeTasks(_ settings: Settings) -> Bool {
    guard !settings.isCommandMarked, settings.printMode == nil, !settings.hasPage,
      let word = settings.command.first
    else { return false }
    let special = Array(" \t\n=$".utf8)
    // A task in a directory is named as in `test:packages/a`.
    let start = word.prefix { $0 != UInt8(ascii: ":") }
    return !word.contains(where: special.contains) && !start.contains(UInt8(ascii: "/"))
  }

  /// The tasks with arguments that the words mean, or `nil` for a program; and a note for the user where they could
  /// mean something else, too.
  func meaning() throws(Failure) -> (tasks: (names: [String], arguments: [[UInt8]])?, note: String?)
  {
    guard let first = words.first else { return (nil, nil) }
    let name = first.decoded
    if let project, name == "run", words.count > 1,
      words.dropFirst().allSatisfy({ project.hasTask($0.decoded) })
    {
      throw .usage(
        "tasks are named without 'run': watchrun \(ShellWords.quoted(Array(words.dropFirst())))")
    }
    guard let project, project.hasTask(name) else {
      try refuseQuestion(name)
      try refuseWordOfOption(name)
      return (nil, nil)
    }
    let written = ShellWords.quoted(words)
    let named = words.prefix { $0 != "--".word }
    if named.allSatisfy({ project.hasTask($0.decoded) }) {
      let names = named.map(\.decoded)
      let arguments = Array(words.dropFirst(named.count + 1))
      if names.count > 1 && !arguments.isEmpty {
        throw .usage(
          "only a single task takes arguments; write: watchrun "
            + ShellWords.quoted([first, "--".word] + arguments))
      }
      let taken = names.count == 1 ? "the task \(ShellWords.quoted(first))" : "the tasks \(written)"
      let note = "running \(taken) of \(project.source); for the program: watchrun -- \(written)"
      let isAmbiguous = line.isProgram(first) && named.count == words.count
      return ((names, arguments), isAmbiguous ? note : nil)
    }
    let rest = Array(words.dropFirst())
    if let option = rest.first, option.first == UInt8(ascii: "-") {
      let options = rest.prefix { $0 != "--".word }
      let advice =
        isOption(option, hasNext: rest.count > 1)
        ? "and options precede it: watchrun "
          + ShellWords.quoted(options + [first] + rest.dropFirst(options.count))
        : "and its arguments follow '--': watchrun "
          + ShellWords.quoted([first, "--".word] + rest)
      throw .usage("'\(name)' is a task, \(advice); for the program: watchrun -- \(written)")
    }
    if line.isProgram(first) {
      let name = ShellWords.quoted(first)
      return (nil, "running the program \(name); for the task: watchrun \(name)")
    }
    let stranger = rest.first { !project.hasTask($0.decoded) } ?? []
    let nearest = nearestName(to: stranger.decoded, among: project.names)
    throw .usage(
      "'\(stranger.printable)' is not a task of \(project.source); "
        + (nearest.map { "did you mean '\($0.printable)'?" } ?? "tasks: \(list(project.names))"))
  }

  /// Words that people type to get what an option does.
  private static let options: [(word: String, purpose: String, option: String)] = [
    ("help", "help", "--help"), ("version", "the version", "--version"),
    ("init", "a project file", "--init"), ("check", "a check of the project file", "--check"),
    ("doctor", "a report of what is watched", "--doctor"),
    ("list", "a list of the tasks", "--list-tasks"),
    ("tasks", "a list of the tasks", "--list-tasks"),
    ("schema", "the schema of project files", "--schema"),
  ]

  /// Words that people type to ask or tell a running session. Many of them are also programs.
  private static let questions: [(word: String, purpose: String, option: String)] = [
    ("status", "the state of the running session", "--status"),
    ("ps", "the state of the running session", "--status"),
    ("wait", "the results of the running session", "--wait"),
    ("logs", "the output of the tasks", "--logs"),
    ("restart", "a restart in the running session", "--send restart"),
    ("stop", "a stop of all tasks", "--send stop"),
    ("pause", "a pause of the running session", "--send pause"),
    ("resume", "the end of a pause", "--send resume"),
    ("reload", "a reload of the page", "--send reload"),
  ]

  /// Refuses such a word, alone or before tasks, if there is no such program.
  private func refuseQuestion(_ name: String) throws(Failure) {
    let tasks = words.dropFirst()
    guard let first = words.first, !line.isProgram(first),
      // A session of a command line has tasks that no project names.
      tasks.allSatisfy({ project?.hasTask($0.decoded) == true })
        || tasks.count == 1 && tasks.first?.first != UInt8(ascii: "-"),
      let row = Self.questions.first(where: { $0.word == name }), line.usual.line(for: name) == nil
    else { return }
    let arguments = tasks.isEmpty ? "" : " " + ShellWords.quoted(Array(tasks))
    throw .usage(
      "no task and no program '\(name)'; for \(row.purpose): watchrun \(row.option)\(arguments)")
  }

  private func refuseWordOfOption(_ name: String) throws(Failure) {
    guard words.count == 1 else { return }
    if let row = Self.options.first(where: { $0.word == name }) {
      let other = line.usual.line(for: name)
      throw .usage(
        (other.map { "no task '\(name)'; write: watchrun \($0); " } ?? "")
          + "for \(row.purpose): watchrun \(row.option); "
          + "for a program named \(name): watchrun -- \(name)"
          + (project.map { "; tasks of \($0.source): \(list($0.names))" } ?? ""))
    }
    // It is in every PATH, does nothing, and fails.
    guard name == "test" else { return }
    if project == nil, line.usual.test == nil,
      let nearby = NearbyProject.all(around: line.directory.path).first
    {
      throw .usage(
        "no task 'test' here; there is \(nearby.title) in \(nearby.place): "
          + "watchrun -C \(nearby.place) test")
    }
    throw .usage(
      "no task 'test' \(project.map { "in \($0.source)" } ?? "here"); give a command, as in: "
        + "watchrun \(line.usual.test ?? "make test")")
  }

  /// The error for a first word that is no task, no program, and no habit of another tool.
  func refuseUnknownTask() throws(Failure) {
    guard let project, let first = words.first, words.count == 1 else { return }
    let lack = "no task and no program '\(first.printable)'"
    if let nearest = nearestName(to: first.decoded, among: project.names) {
      throw .usage("\(lack); did you mean: watchrun \(ShellWords.quoted(nearest.word))")
    }
    throw .usage("\(lack); tasks of \(project.source): \(list(project.names))")
  }

  private func isOption(_ word: [UInt8], hasNext: Bool) -> Bool {
    let written = word.prefix { $0 != UInt8(ascii: "=") }.decoded
    guard let option = Option.named(written) else { return false }
    return option.value == nil || hasNext || written.utf8.count < word.count
  }

  private func list(_ names: [String]) -> String {
    names.map(\.printable).joined(separator: ", ")
  }
}

extension Settings {
  /// The settings with tasks instead of a command, if its words name tasks. A command that can never run
  /// is an error with the line to type.
  ///
  /// - Parameter say: Receives a note about what else the words could mean.
  package func resolvingTasks(
    in directory: Path, programs: [Path] = programDirectories(), isPiped: Bool = false,
    say: (String) -> Void
  ) throws(Failure) -> Settings {
    if task == .doctor, TaskWords.mayBeTasks(self),
      let project = (try? namedTasks(in: directory)) ?? nil,
      command.allSatisfy({ project.hasTask($0.decoded) })
    {
      return try replacingCommand(by: command.map(\.decoded), [])
    }
    guard task == .run else { return self }
    if command.isEmpty {
      try refuseFilterOfFile(in: directory)
      return self
    }
    // What sets PATH decides itself where programs are looked up.
    let places =
      self.environment.last { $0.isPATH }.map { programDirectories($0.value) } ?? programs
    var line = TypedLine(
      words: command, options: optionWords.filter { $0 != "--".word },
      directory: ProjectDirectory(
        path: directory, findsProgram: { findProgram($0.word, in: places) != nil }),
      isPiped: isPiped)
    if TaskWords.mayBeTasks(self) {
      do throws(Failure) {
        line.project = try namedTasks(in: directory)
      } catch {
        let isProgram = line.directory.findsProgram(line.first)
        // 'test' is in every PATH. Another program with arguments is hardly meant as a task.
        if !isProgram || command.count == 1 || line.first == "test" {
          if isProgram { say("for the program: watchrun -- \(ShellWords.quoted(command))") }
          throw error
        }
      }
      let (tasks, note) = try TaskWords(line: line).meaning()
      if let note { say(note) }
      if let tasks { return try replacingCommand(by: tasks.names, tasks.arguments) }
    }
    try refuseHabit(line)
    CommandNotes(line, self).lines.forEach(say)
    return self
  }

  /// Refuses what is no program and never becomes one. Another first word is tried.
  private func refuseHabit(_ line: TypedLine) throws(Failure) {
    guard self.shell == .whenNeeded, !isRunByShell, let first = command.first else {
      return
    }
    if !isCommandMarked, let advice = Habit.advice(for: line, among: Habit.tools) {
      throw .usage(advice)
    }
    if line.isProgram(first) { return }
    if let advice = Habit.advice(for: line) { throw .usage(advice) }
    if TaskWords.mayBeTasks(self) { try TaskWords(line: line).refuseUnknownTask() }
  }

  /// Refuses `-f Procfile` and `-f modd.conf` without a command: only changes of that file would count.
  private func refuseFilterOfFile(in directory: Path) throws(Failure) {
    guard self.filters.count == 1, let name = self.filters.first?.description else { return }
    let place = ProjectDirectory(path: directory)
    guard let advice = ForeignFile.advice(for: name, in: place) else { return }
    throw .usage("-f is a filter; \(advice)")
  }

  private func replacingCommand(
    by names: [String], _ arguments: [[UInt8]]
  ) throws(Failure) -> Settings {
    var settings = self
    settings.command = []
    settings.taskArguments = arguments
    settings.taskNames = names
    let line = ShellWords.quoted(command)
    for option in Setting.options {
      guard let written = given[option.long], let key = option.taskKey else { continue }
      throw .usage(
        "'\(line)' names tasks, and \(written) is for commands; set \"\(key)\" of the task in "
          + "watchrun.json, or for a program: watchrun \(written)\(option.valueUsage) -- \(line)")
    }
    do throws(Failure) {
      return try settings.checked()
    } catch {
      throw .usage("'\(line)' names tasks: \(error.message)")
    }
  }

  /// The tasks that words can name; `nil` if there is no project.
  private func namedTasks(in directory: Path) throws(Failure) -> TaskWords.Project? {
    let source = ProjectSource(self, directory: directory)
    guard let (project, detected) = try source.find() else { return nil }
    // One that stands for none is refused with the reason.
    let empty = project.groups.filter { $0.lack != nil }.map(\.name)
    return .init(
      names: project.names + empty, groups: project.groups.map(\.name),
      source: detected == nil ? source.file.description : "this project")
  }
}

extension Command.EnvironmentVariable {
  package var isPATH: Bool { name.elementsEqual("PATH".utf8) }
}
