import ActionRunning
import FileObservation
import SystemCalls

/// Where the project of a run comes from: a project file, or detection.
struct ProjectSource {
  /// The names of project files. A directory has at most one of them.
  static let usualFiles: [Path] = ["watchrun.json", "watchrun.json5", "watchrun.jsonc"]
  /// The one that `--init` writes.
  static let usualFile: Path = "watchrun.json"

  /// The file that was named with `--config`.
  private let namedFile: Path?
  let directory: Path

  init(_ namedFile: Path?, directory: Path) {
    self.namedFile = namedFile
    self.directory = directory
  }

  /// The file as it is shown in messages: the named one, or the one that exists.
  var file: Path { namedFile ?? existingFiles.first ?? Self.usualFile }

  var path: Path { file.absolute(from: directory) }

  /// The absolute paths at which a project file is read if it appears.
  var candidates: [Path] {
    (namedFile.map { [$0] } ?? Self.usualFiles).map { $0.absolute(from: directory) }
  }

  private var existingFiles: [Path] {
    let directory = ProjectDirectory(path: directory)
    return Self.usualFiles.filter { directory.holds($0.description) }
  }

  /// Why there is no project.
  enum Refusal: Error {
    /// The file was read and has errors.
    case problems(ProjectProblems)
    case failure(Failure)
  }

  /// The project of the file; `nil` if none was named and none exists.
  func read() throws(Refusal) -> Project? { try readFile()?.project }

  /// The same, with the paths that the file names. A file that was named must exist, unless it is
  /// read again.
  func readFile(again: Bool = false) throws(Refusal) -> ProjectReader.File? {
    let found = namedFile == nil ? existingFiles : []
    if found.count > 1 {
      let names = found.map(\.description).joined(separator: " and ")
      throw .failure(
        Failure(
          "there is more than one project file: \(names); remove all but one, or choose one with "
            + "--config", ExitCode.usage))
    }
    let text: [UInt8]?
    do throws(SystemError) {
      text = try fileContents(of: path)
    } catch {
      throw .failure(Failure("cannot read \(file): \(error.reason)", ExitCode.usage))
    }
    guard let text else {
      if namedFile == nil || again { return nil }
      throw .failure(missingFile())
    }
    switch ProjectReader.readFile(text, as: file.description) {
    case .success(let file): return file
    case .failure(let problems): throw .problems(problems)
    }
  }

  private func missingFile() -> Failure {
    if (try? FileStatus(of: path, followsLinks: true)) != nil {
      return Failure("\(file) is not a regular file", ExitCode.usage)
    }
    return Failure(
      "there is no file \(file); to write one: watchrun --init --config \(file)", ExitCode.usage)
  }

  /// The kind of project in the directory; `nil` if none is detected.
  func detect() -> DetectedProject? {
    DetectedProject(ProjectDirectory(path: directory))
  }

  /// The error where there is no file and no project is detected.
  func nothingFound() -> Failure {
    let flaw = ProjectDetection.flaw(ProjectDirectory(path: directory))
    let found = "no command given, no \(Self.usualFile), and"
    if let flaw, let remedy = flaw.remedy {
      return Failure("\(found) \(flaw.reason): \(remedy)", ExitCode.usage)
    }
    if let nearby = NearbyProject(around: directory) {
      let reason = flaw?.reason ?? "no project detected"
      return Failure(
        "\(found) \(reason); there is \(nearby.title) in \(nearby.place): "
          + "watchrun -C \(nearby.place)", ExitCode.usage)
    }
    // The remedy precedes the long list.
    let files = ProjectDetection.fileNames.joined(separator: ", ")
    return Failure(
      "\(found) \(flaw?.reason ?? "no project detected"); give a command, as in "
        + "'watchrun make test', or write a \(Self.usualFile) with 'watchrun --init'"
        + (flaw == nil ? " (detected are: \(files))" : ""), ExitCode.usage)
  }
}

extension Project {
  /// The tasks and pages that `--task` names, with all their dependencies; all if it names none.
  func selecting(_ names: [String]) throws(Failure) -> Project {
    if names.isEmpty { return self }
    let nodes =
      tasks.map { TaskGraph.Node($0.name, dependencies: $0.after) }
      + pages.map { TaskGraph.Node($0.name, dependencies: $0.after) }
    let needed: Set<String>
    do throws(TaskGraphError) {
      needed = try TaskGraph.names(neededBy: names, in: nodes)
    } catch {
      var message = "--task: \(error)"
      if case .unknownTask(_, nil) = error {
        message += "; tasks: " + nodes.map { "\(Path($0.name))" }.joined(separator: ", ")
      }
      throw Failure(message, ExitCode.usage)
    }
    var part = self
    part.tasks.removeAll { !needed.contains($0.name) }
    part.pages.removeAll { !needed.contains($0.name) }
    return part
  }
}

// MARK: - For a run

extension ProjectSource {
  init(_ settings: Settings, directory: Path) {
    self.init(settings.projectFile, directory: directory)
  }

  /// The project to run, of the file or detected, with the selected tasks. Reports a detected project.
  func load(_ settings: Settings, _ console: Console) throws(Failure) -> Project {
    let project: Project
    do throws(Refusal) {
      if let read = try read() {
        project = read
      } else if let found = detect() {
        console.say(.news, "\(found.summary); to change that: watchrun --init")
        if let offers = found.offers { console.say(.news, offers) }
        project = found.project
      } else {
        throw .failure(nothingFound())
      }
    } catch {
      throw console.failure(of: error)
    }
    let wanted = try project.selecting(settings.taskNames)
    if settings.isOneRound && wanted.tasks.isEmpty {
      throw Failure(
        "nothing to run: there are only pages, and --once serves none; remove --once",
        ExitCode.usage)
    }
    if settings.opensBrowser && wanted.pages.isEmpty {
      throw Failure(
        "there is no page to open; remove --open, or add a page to \(file)", ExitCode.usage)
    }
    if settings.shell == .never, let task = wanted.tasks.first(where: \.isShellLine) {
      throw Failure(
        "--shell none: the task '\(Path(task.name))' is a shell line; write its 'run' as an array, "
          + "or remove --shell", ExitCode.usage)
    }
    return wanted.overridden(by: settings.projectOverrides)
  }

  /// The project of the changed file with the selected tasks; `nil` if the file was removed. Reports
  /// all problems but the last, which is thrown.
  func readAgain(_ settings: Settings, _ console: Console) throws(Failure) -> Project? {
    let project: Project?
    do throws(Refusal) {
      project = try readFile(again: true)?.project
    } catch {
      throw console.failure(of: error)
    }
    return try project?.selecting(settings.taskNames).overridden(by: settings.projectOverrides)
  }
}

extension Project.Task {
  fileprivate var isShellLine: Bool {
    if case .line = run { true } else { false }
  }
}
