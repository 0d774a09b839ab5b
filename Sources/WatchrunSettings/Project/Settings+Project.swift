import Support

// What the command line says about a project.

extension Settings {
  /// The settings with the defaults of the project file. An option that was given is stronger.
  package func adding(_ defaults: [String: Assignment]) -> Settings {
    var settings = self
    for (name, value) in defaults {
      let option = Setting.key(name, in: .project)?.option
      if option.map({ given[$0.long] == nil }) ?? true { value.settings?(&settings) }
    }
    return settings
  }
}

extension Project {
  /// The project with the values of options that replace those of every task.
  package func overridden(by settings: Settings) -> Project {
    var project = self
    project.jobs = settings.jobs ?? project.jobs
    for index in project.tasks.indices { project.tasks[index].override(by: settings) }
    return project
  }
}

extension Project.Task {
  fileprivate mutating func override(by settings: Settings) {
    let own = self
    for value in settings.replacements { value.task?(&self) }
    if [[name], group.map { [$0] }].contains(settings.taskNames) {
      run = run.adding(settings.taskArguments)
    }
    if settings.given["watch"] != nil, !watched.isEmpty { watched = settings.watched.map(\.path) }
    if shell == .never { shell = own.shell }
    guard isService else { return }
    // A service does not end: it can neither be waited for nor take too long.
    timeout = own.timeout
    if onBusy == .queue { onBusy = own.onBusy }
  }
}

extension Project.Run {
  /// The command with more arguments, which a shell takes as they are.
  fileprivate func adding(_ arguments: [[UInt8]]) -> Project.Run {
    if arguments.isEmpty { return self }
    switch self {
    case .words(let words): return .words(words + arguments.map(\.decoded))
    case .line(let line):
      let quoted = arguments.map { word in
        // What is not visible is shown in a way that not every shell understands.
        let text = word.decoded
        return word.printable == text ? ShellWords.quoted(word) : text.singleQuoted
      }
      return .line(line + " " + quoted.joined(separator: " "))
    }
  }
}
