import Support
import SystemCalls
import WatchrunSettings

/// `--list-tasks`, `--init`, `--check` and `--schema`: questions about a project, which run nothing.
struct ProjectQuestions {
  let settings: Settings
  let console: Console
  let source: ProjectSource

  /// Prints the answer. Returns the exit status.
  func answer() throws(Failure) -> Int32 {
    switch settings.task {
    case .listTasks: try listTasks()
    case .initialize: try initialize()
    case .check: try check()
    case .schema: try writeAnswer(Array(ProjectSchema.text.utf8))
    case .run, .explain, .doctor, .help, .version, .manual, .completions, .ask: break
    }
    return ExitCode.success
  }

  private func listTasks() throws(Failure) {
    guard let (project, detected) = try source.find() else { throw source.nothingFound() }
    if let detected, !settings.answersInJSON {
      if !detected.leftOut.isEmpty { console.say(.news, detected.summary) }
      detected.unusedFiles.forEach { console.say(.news, $0) }
    }
    let selected = try project.selecting(settings.taskNames)
    let text =
      settings.answersInJSON
      ? ProjectText.json(
        selected, file: detected == nil ? source.file : nil, detected: detected?.titles)
      : ProjectText.list(selected)
    try writeAnswer(Array(text.utf8))
  }

  private func check() throws(Failure) {
    guard let file = try source.readFile() else {
      throw .usage(
        "there is no file \(source.file) to check; to write one: watchrun --init")
    }
    let problems = file.problemsOfVariables(in: source)
    if !problems.isEmpty { throw .project(problems) }
    let missing = file.paths.filter { !$0.exists(in: source.directory) }
    for path in missing {
      let isPattern = path.key != "each" && path.path.looksLikePattern
      let advice = isPattern ? "; patterns belong in 'filter'" : ""
      let lack = path.key == "each" ? "no directory has such a file" : "no such path"
      console.warn(
        "\(path.file):\(path.position): warning: '\(path.key)': \(lack): \(path.path)\(advice)")
    }
    let tasks = counted(file.project.tasks.count + file.project.pages.count, "task")
    let warnings =
      missing.isEmpty ? "no problems" : "no errors, \(counted(missing.count, "warning"))"
    try writeAnswer(Array("\(source.file): \(tasks), \(warnings)\n".utf8))
  }

  private func exists(_ path: Path) -> Bool {
    (try? FileStatus(of: path.absolute(from: source.directory), followsLinks: true)) != nil
  }

  private func initialize() throws(Failure) {
    let processes = try source.namedProcesses()
    let found = processes == nil ? source.detect() : nil
    let text = ProjectText.file(
      processes ?? found?.project ?? .example, hasSchema: exists(schemaFile))
    do throws(SystemError) {
      try create(text)
    } catch {
      if error.code == EEXIST {
        let what =
          exists(source.writtenFile) ? "exists already" : "is a link to a file that does not exist,"
        throw .usage(
          "\(source.writtenFile) \(what) and is left unchanged; to write a new one, remove it first"
        )
      }
      throw .usage("cannot write \(source.writtenFile): \(error.reason)")
    }
    console.say(
      .news,
      "wrote \(source.writtenFile): "
        + (found?.summary ?? processes.map {
          "the processes of \(source.file): \($0.names.joined(separator: ", "))"
        }
          ?? "an example; put your commands in"))
    found?.unusedFiles.forEach { console.say(.news, $0) }
    if exists(schemaFile) { return }
    console.sayAtTerminal(
      "for completion in editors: watchrun --schema > \(ShellWords.quoted(schemaFile.bytes)), and "
        + "\"$schema\": \"\(ProjectSchema.address)\" in \(source.writtenFile)")
  }

  /// Creates the project file; leaves none if that fails.
  private func create(_ text: String) throws(SystemError) {
    let path = source.writtenFile.absolute(from: source.directory)
    let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
    do throws(SystemError) {
      try writeAll(Array(text.utf8), to: file.number)
    } catch {
      removeFile(path)
      throw error
    }
  }

  /// The schema beside the project file, as seen from the current directory.
  private var schemaFile: Path {
    source.writtenFile.parent?.appending(ProjectSchema.file) ?? Path(ProjectSchema.file)
  }
}

extension Path {
  /// Whether the path has a character that is special in patterns.
  fileprivate var looksLikePattern: Bool { bytes.contains { Array("*?[{".utf8).contains($0) } }
}
