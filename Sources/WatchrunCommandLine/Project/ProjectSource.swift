import ActionRunning
import FileObservation
import SystemCalls

/// Where the project of a run comes from: a file, or what is found in the folder.
struct ProjectSource {
  static let usualFile = Path("watchrun.json")

  /// The file, as it was given.
  let file: Path
  let directory: Path
  /// True if it was asked for by name, and so has to be there.
  let isNamed: Bool

  init(_ settings: Settings, directory: Path) {
    file = settings.projectFile ?? Self.usualFile
    isNamed = settings.projectFile != nil
    self.directory = directory
  }

  var path: Path { file.absolute(from: directory) }

  /// Why there is no project to go by.
  enum Refusal: Error {
    /// The file says something that cannot be.
    case problems(ProjectProblems)
    case failure(Failure)
  }

  /// The project of the file; nil if there is no file, and none was named.
  func read() throws(Refusal) -> Project? {
    let text: [UInt8]?
    do throws(SystemError) {
      text = try fileContents(of: path)
    } catch {
      throw .failure(Failure("cannot read \(file): \(error.reason)", ExitCode.usage))
    }
    guard let text else {
      guard isNamed else { return nil }
      if (try? FileStatus(of: path, followsLinks: true)) != nil {
        throw .failure(Failure("\(file) is no file that can be read again", ExitCode.usage))
      }
      throw .failure(
        Failure(
          "there is no file \(file); 'watchrun --init --config \(file)' writes one",
          ExitCode.usage))
    }
    switch ProjectReader.read(text, as: file.description) {
    case .success(let project): return project
    case .failure(let problems): throw .problems(problems)
    }
  }

  /// What the folder looks like; nil if nothing is known of it.
  func recognize() -> RecognizedProject? {
    RecognizedProject(ProjectFolder(path: directory))
  }

  /// There is no file, and nothing is recognised.
  func nothingFound() -> Failure {
    let flaw = Recognition.flaw(ProjectFolder(path: directory))
    let lack = "nothing to do: no command, no \(Self.usualFile), and"
    if let nearby = NearbyProject(around: directory) {
      return Failure(
        "\(lack) \(flaw ?? "no project that is known"); there is \(nearby.title) in "
          + "\(nearby.place): watchrun -C \(nearby.place)", ExitCode.usage)
    }
    let files = Recognition.fileNames.joined(separator: ", ")
    return Failure(
      "\(lack) \(flaw ?? "no project that is known (\(files))"); give a command, as in "
        + "'watchrun make test', or write a file with --init", ExitCode.usage)
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

extension ProjectSource {
  /// The project to run: that of the file, or what is recognised, which is said. Only the tasks that
  /// were asked for.
  func load(_ settings: Settings, _ console: Console) throws(Failure) -> Project {
    let project: Project
    do throws(Refusal) {
      if let read = try read() {
        project = read
      } else if let found = recognize() {
        console.say(.news, "\(found.summary); to change that: watchrun --init")
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
        "there is no task to run, only pages, and --once serves none; leave out --once",
        ExitCode.usage)
    }
    if settings.opensBrowser && wanted.pages.isEmpty {
      throw Failure(
        "there is no page to open; leave out --open, or add a page to \(file)", ExitCode.usage)
    }
    return wanted
  }
}

extension ProjectSource {
  /// The project as its file has it now; nil if there is none any more. Of all problems but the last
  /// it is told here.
  func readAgain(_ settings: Settings, _ console: Console) throws(Failure) -> Project? {
    let project: Project?
    do throws(Refusal) {
      project = try ProjectSource(unnamed: self).read()
    } catch {
      throw console.failure(of: error)
    }
    return try project?.selecting(settings.taskNames)
  }

  /// The same file, which need not be there.
  private init(unnamed source: ProjectSource) {
    self = ProjectSource(file: source.file, directory: source.directory, isNamed: false)
  }

  private init(file: Path, directory: Path, isNamed: Bool) {
    self.file = file
    self.directory = directory
    self.isNamed = isNamed
  }
}
