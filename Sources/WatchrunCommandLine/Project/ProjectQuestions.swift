import FileObservation
import SystemCalls

/// `--list-tasks`, `--init`, `--check` and `--schema`: what is said of a project without doing it.
struct ProjectQuestions {
  let settings: Settings
  let console: Console
  let source: ProjectSource

  /// Answers. The status to exit with.
  func answer() throws(Failure) -> Int32 {
    switch settings.task {
    case .listTasks: try listTasks()
    case .initialize: try initialize()
    case .check: return try check()
    case .schema: try print(ProjectSchema.text)
    case .run, .explain, .help, .version, .manual, .completions: break
    }
    return ExitCode.success
  }

  private func listTasks() throws(Failure) {
    let project: Project
    do throws(ProjectSource.Refusal) {
      if let read = try source.read() {
        project = read
      } else if let found = source.recognize() {
        project = found.project
      } else {
        throw .failure(source.nothingFound())
      }
    } catch {
      throw console.failure(of: error)
    }
    try print(ProjectText.list(try project.selecting(settings.taskNames)))
  }

  private func check() throws(Failure) -> Int32 {
    do throws(ProjectSource.Refusal) {
      guard let project = try source.read() else {
        throw .failure(
          Failure(
            "there is no file \(source.file) to check; --init writes one", ExitCode.usage))
      }
      let count = project.tasks.count + project.pages.count
      try? print("\(source.file): \(count == 1 ? "1 task" : "\(count) tasks"), no problem\n")
      return ExitCode.success
    } catch {
      throw console.failure(of: error)
    }
  }

  private func initialize() throws(Failure) {
    let found = source.recognize()
    let text = found.map { ProjectText.file($0.project, $0.summary) } ?? ProjectText.example
    do throws(SystemError) {
      let file = try Descriptor.open(source.path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
      try writeAll(Array(text.utf8), to: file.number)
    } catch {
      if error.code == EEXIST {
        throw Failure(
          "\(source.file) is there already, and is left as it is; remove it first to begin anew",
          ExitCode.usage)
      }
      throw Failure("cannot write \(source.file): \(error.reason)", ExitCode.usage)
    }
    let origin = found?.summary ?? "an example: put in what is to be run"
    console.say(.news, "wrote \(source.file): \(origin)")
  }

  private func print(_ text: String) throws(Failure) {
    do throws(SystemError) {
      try writeAll(Array(text.utf8), to: STDOUT_FILENO)
    } catch {
      if error.code == EPIPE { return }
      throw Failure("cannot print: \(error.reason)", ExitCode.failure)
    }
  }
}

extension Console {
  /// Tells of all problems but the last, which is what is thrown.
  func failure(of refusal: ProjectSource.Refusal) -> Failure {
    switch refusal {
    case .failure(let failure):
      return failure
    case .problems(let problems):
      for earlier in problems.list.dropLast() { problem(earlier.description) }
      return Failure(problems.list.last?.description ?? "", ExitCode.usage)
    }
  }
}
