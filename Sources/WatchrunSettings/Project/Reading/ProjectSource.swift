import ActionRunning
import FileObservation
import Support
import SystemCalls

/// Where the project of a run comes from: a project file, or detection.
package struct ProjectSource {
  /// The names of project files. A directory has at most one of them.
  static let usualFiles: [Path] = ["watchrun.json", "watchrun.json5", "watchrun.jsonc"]
  /// The one that `--init` writes.
  package static let usualFile: Path = "watchrun.json"

  private let namedFile: Path?
  package let directory: Path

  package init(_ namedFile: Path?, directory: Path) {
    self.namedFile = namedFile
    self.directory = directory
  }

  /// The file as it is shown in messages: the named one, or the one that exists.
  package var file: Path { namedFile ?? existingFiles.first ?? Self.usualFile }

  package var path: Path { file.absolute(from: directory) }

  /// The file that `--init` writes.
  package var writtenFile: Path { hasFile ? file : Self.usualFile }

  /// The processes of a Procfile that was named; `nil` if none was.
  package func namedProcesses() throws(Failure) -> Project? {
    namedFile.map(ProcessFile.isMeant) == true ? try read() : nil
  }

  /// The absolute paths at which a project file is read if it appears.
  package var candidates: [Path] {
    (namedFile.map { [$0] } ?? Self.usualFiles).flatMap { [$0, ProjectFileText.local(of: $0)] }
      .map { $0.absolute(from: directory) }
  }

  /// Whether there is a project file. A Procfile is none.
  package var hasFile: Bool {
    namedFile.map { !ProcessFile.isMeant(by: $0) } ?? !existingFiles.isEmpty
  }

  private var existingFiles: [Path] {
    let directory = ProjectDirectory(path: directory)
    return Self.usualFiles.filter { directory.holds($0.description) }
  }

  package func read() throws(Failure) -> Project? { try readFile()?.project }

  /// The project of the file with the paths that it names; `nil` if none was named and none exists. A file that
  /// was named must exist, unless it is read again.
  package func readFile(again: Bool = false) throws(Failure) -> ProjectReader.File? {
    let found = namedFile == nil ? existingFiles : []
    if found.count > 1 {
      let names = found.map(\.description).joined(separator: " and ")
      throw .usage(
        "there is more than one project file: \(names); remove all but one, or choose one with "
          + "--config")
    }
    if namedFile != nil,
      let note = ForeignFile.named("\(file)")?.note(in: ProjectDirectory(path: directory))
    {
      throw .usage(note)
    }
    guard let text = try text(of: file) else {
      if namedFile == nil || again { return nil }
      throw missingFile()
    }
    if namedFile != nil, ProcessFile.isMeant(by: file) { return try processes(in: text) }
    var read = try ProjectReader.read(try fileText(text))
    read.project = read.project.expandingMembers(in: directory)
    if let problem = TaskGraph.problems(of: read.project.nodes).first {
      throw .usage("\(file): \(problem)")
    }
    return read
  }

  private func text(of file: Path) throws(Failure) -> [UInt8]? {
    do throws(SystemError) {
      return try fileContents(of: file.absolute(from: directory))
    } catch {
      throw .usage("cannot read \(file): \(error.reason)")
    }
  }

  /// The texts of the file; `nil` if there is none that can be read.
  package var fileText: ProjectFileText? {
    guard hasFile, let text = try? text(of: file) else { return nil }
    return (try? fileText(text)) ?? ProjectFileText(file: file.description, text: text)
  }

  private func fileText(_ text: [UInt8]) throws(Failure) -> ProjectFileText {
    var texts = ProjectFileText(file: file.description, text: text)
    let local = ProjectFileText.local(of: file)
    texts.local = try self.text(of: local).map { (local.description, $0) }
    return texts
  }

  /// The project of a Procfile.
  private func processes(in text: [UInt8]) throws(Failure) -> ProjectReader.File {
    let place = ProjectDirectory(path: directory)
    let project = ProcessFile.project(in: text.decoded, of: place)
    if project.tasks.isEmpty {
      throw .usage(
        "\(file) has no process; write one a line, as in web: ./server")
    }
    return ProjectReader.File(project: project, paths: [])
  }

  private func missingFile() -> Failure {
    if (try? FileStatus(of: path, followsLinks: true)) != nil {
      return .usage("\(file) is not a regular file")
    }
    if let foreign = ForeignFile.named("\(file)") {
      return .usage(
        "there is no file \(file), and it is for \(foreign.tool); to write one for watchrun: "
          + "watchrun --init")
    }
    let isJSON = ["json", "json5", "jsonc"].contains { file.description.hasSuffix(".\($0)") }
    let option = isJSON ? " --config \(file)" : ""
    return .usage(
      "there is no file \(file)\(isJSON ? "" : ", and project files are JSON"); to write one: "
        + "watchrun --init\(option)")
  }

  /// The kind of project in the directory; `nil` if none is detected.
  package func detect() -> DetectedProject? {
    DetectedProject(ProjectDirectory(path: directory))
  }

  /// The project of the file, or else the one that is detected, with the tasks of its members; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - again: Whether a file that was named may be missing.
  ///   - detects: Whether the project is detected where no file was named.
  package func find(
    again: Bool = false, detects: Bool = true
  ) throws(Failure) -> (project: Project, detected: DetectedProject?)? {
    if let read = try readFile(again: again) { return (read.project, nil) }
    guard detects, namedFile == nil, let found = detect() else { return nil }
    return (found.project.expandingMembers(in: directory), found)
  }

  /// The error where there is no file and no project is detected.
  package func nothingFound() -> Failure {
    let place = ProjectDirectory(path: directory)
    let flaw = ProjectDetection.flaw(place)
    let found =
      "no command given, no \(Self.usualFile), and \(flaw?.reason ?? "no project detected")"
    if let remedy = flaw?.remedy { return .usage("\(found): \(remedy)") }
    return .usage("\(found); \(remedy(in: place))")
  }

  /// What to type where nothing is detected.
  private func remedy(in place: ProjectDirectory) -> String {
    let usual = UsualLines(directory: place)
    if let run = usual.run {
      return "to run what is here: watchrun \(run); to write tasks: watchrun --init"
    }
    let nearby = NearbyProject.all(around: directory)
    if let first = nearby.first {
      let places = nearby.map { "\($0.title) in \($0.place)" }.joined(separator: ", ")
      return "there is \(places): watchrun -C \(first.place)"
    }
    if let note = ForeignFile.notes(in: place).first { return note }
    if let run = usual.onlyFile {
      return "to run the file here: watchrun \(run); to write tasks: watchrun --init"
    }
    return "give a command, as in 'watchrun make test', or write a \(Self.usualFile) with "
      + "'watchrun --init'"
  }
}

extension Project {
  /// The tasks and pages that `--task` names, with all their dependencies; all if it names none.
  package func selecting(_ names: [String]) throws(Failure) -> Project {
    if names.isEmpty { return self }
    for group in groups where names.contains(group.name) {
      if let lack = group.lack { throw .usage(lack) }
    }
    let named = names.flatMap { name in
      let tasks = tasks(namedBy: name)
      return tasks.isEmpty ? [name] : tasks
    }
    let needed: Set<String>
    do throws(TaskGraphError) {
      needed = try TaskGraph.names(neededBy: named, in: nodes)
    } catch {
      var message = "\(error)"
      if case .unknownTask(_, nil) = error {
        message += "; tasks: " + self.names.map(\.printable).joined(separator: ", ")
      }
      throw .usage(message)
    }
    var part = self
    part.tasks.removeAll { !needed.contains($0.name) }
    part.pages.removeAll { !needed.contains($0.name) }
    // Naming it is a request.
    for index in part.tasks.indices where named.contains(part.tasks[index].name) {
      part.tasks[index].isManual = false
    }
    return part
  }
}

// MARK: - For a run

extension ProjectSource {
  package init(_ settings: Settings, directory: Path) {
    self.init(settings.projectFile, directory: directory)
  }

  /// The project to run, of the file or detected, with the selected tasks.
  ///
  /// - Parameter say: Receives what there is to know about a project that was detected.
  package func load(_ settings: Settings, say: (String) -> Void) throws(Failure) -> Project {
    guard let (project, detected) = try find() else { throw nothingFound() }
    if let detected {
      say("\(detected.summary); to change that: watchrun --init")
      detected.notes.forEach(say)
    }
    if !hasFile, let note = project.unrestarted { say(note) }
    let lacks = project.groups.compactMap(\.lack)
    if project.names.isEmpty, let lack = lacks.first { throw .usage(lack) }
    lacks.forEach(say)
    let wanted = try project.selecting(settings.taskNames)
    if settings.isOneRound && wanted.tasks.isEmpty {
      throw .usage(
        "nothing to run: there are only pages, and --once serves none; remove --once")
    }
    let isRequested =
      wanted.tasks.contains { !$0.isManual }
      || wanted.pages.contains { !$0.after.isEmpty }
    if settings.isOneRound, !isRequested, let task = wanted.tasks.first {
      throw .usage(
        "nothing to run: --once runs no manual task; name one: watchrun --once --task "
          + ShellWords.quoted(task.name.word))
    }
    if settings.opensBrowser && wanted.pages.isEmpty {
      throw .usage(
        "there is no page to open; remove --open, or add a page to \(file)")
    }
    return try wanted.forRun(settings, in: directory)
  }

  /// The project as it would run, with the selected tasks; `nil` if there is none, or if one of the tasks is not
  /// detected any more.
  ///
  /// - Parameters:
  ///   - again: Whether the files are read again, for the runs.
  ///   - detects: Whether the project is detected where there is no file.
  package func project(
    for settings: Settings, again: Bool = false, detects: Bool = true
  ) throws(Failure) -> Project? {
    guard let (project, detected) = try find(again: again, detects: detects) else { return nil }
    if again && detected != nil && (try? project.selecting(settings.taskNames)) == nil {
      return nil
    }
    let wanted = try project.selecting(settings.taskNames)
    return again
      ? try wanted.forRun(settings, in: directory) : wanted.overridden(by: settings, in: directory)
  }
}

extension Project {
  /// The project with the values of options, if it can be run with them.
  fileprivate func forRun(_ settings: Settings, in directory: Path) throws(Failure) -> Project {
    for task in tasks where settings.shell == .never {
      guard let key = task.shellLines.first else { continue }
      let isTask = key == "run"
      throw .usage(
        "--shell none: \(isTask ? "" : "'\(key)' of ")the task '\(task.name.printable)' is a shell line; "
          + (key.hasPrefix("on") ? "remove it" : "write \(isTask ? "its 'run'" : "it") as an array")
          + ", or remove --shell")
    }
    return overridden(by: settings, in: directory)
  }
}

extension Project.Task {
  /// The keys whose values a shell runs.
  fileprivate var shellLines: [String] {
    var keys: [String] = []
    if case .line = run { keys.append("run") }
    if onSuccess != nil { keys.append("onSuccess") }
    if onFailure != nil { keys.append("onFailure") }
    if case .line? = stop { keys.append("stop") }
    if case .command(let command)? = readiness?.condition, command.form != .direct {
      keys.append("ready")
    }
    return keys
  }
}
