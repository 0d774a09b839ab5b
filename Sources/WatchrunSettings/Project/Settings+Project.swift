import Support
import SystemCalls

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
  package func overridden(by settings: Settings, in directory: Path) -> Project {
    var project = self
    project.jobs = settings.jobs ?? project.jobs
    for index in project.tasks.indices {
      project.tasks[index].override(by: settings, in: directory)
    }
    return project
  }
}

extension Project.Task {
  fileprivate mutating func override(by settings: Settings, in directory: Path) {
    let own = self
    for value in settings.replacements { value.task?(&self) }
    if [[name], group.map { [$0] }].contains(settings.taskNames) {
      run = run.adding(settings.taskArguments)
    }
    if settings.given["watch"] != nil, !watched.isEmpty {
      let named = settings.watched.map(\.path)
      watched = group == nil ? named : Self.common(named, watched, in: directory)
    }
    if shell == .never { shell = own.shell }
    guard isService else { return }
    // A service does not end: it can neither be waited for nor take too long.
    timeout = own.timeout
    if onBusy == .queue || onBusy == .overlap && isConfinedToOneProcess { onBusy = own.onBusy }
  }

  /// The named paths in those of a task of a directory, and its paths in named ones: others are those of other tasks.
  private static func common(_ named: [Path], _ own: [Path], in directory: Path) -> [Path] {
    var known: Set<Path> = []
    return named.flatMap { name in
      let place = name.absolute(from: directory)
      return own.compactMap { path in
        let ownPlace = path.absolute(from: directory)
        return place.isWithin(ownPlace) ? name : ownPlace.isWithin(place) ? path : nil
      }
    }.filter { known.insert($0).inserted }
  }

  /// Whether two processes of the service cannot run for a while, for the reasons that the reader of the file gives.
  private var isConfinedToOneProcess: Bool {
    if isInteractive || stop != nil { return true }
    if listen != nil { return false }
    switch readiness?.condition {
    case .port, .url: return true
    case .line, .command, nil: return port != nil
    }
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
