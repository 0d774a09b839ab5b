import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

/// Reads a project from the text of its file and collects all problems.
struct ProjectReader {
  /// A problem and the byte at which it occurs.
  struct Finding: Error, Hashable {
    var offset: Int
    var message: String
  }

  /// The project, or all problems of the file.
  static func read(_ text: [UInt8], as file: String) -> Result<Project, ProjectProblems> {
    readFile(text, as: file).map(\.project)
  }

  /// The same, with the paths that the file names.
  static func readFile(_ text: [UInt8], as file: String) -> Result<File, ProjectProblems> {
    var reader = ProjectReader()
    var project: Project?
    do throws(JSONSyntaxError) {
      project = reader.project(from: try JSONValue(parsing: text, example: "{ tasks: { … } }"))
    } catch {
      reader.findings = [
        otherFormat(text) ?? Finding(offset: error.offset, message: error.message)
      ]
    }
    func position(of offset: Int) -> TextPosition { TextPosition(offset, in: text) }
    if let project, reader.findings.isEmpty {
      let paths = reader.references.sorted { $0.offset < $1.offset }.map { path in
        PathReference(path: path.path, key: path.key, position: position(of: path.offset))
      }
      return .success(File(project: project, paths: paths))
    }
    let problems = reader.findings.map { finding in
      ProjectProblem(
        file: file, position: position(of: finding.offset), message: finding.message)
    }
    return .failure(ProjectProblems(list: problems.sorted()))
  }

  /// The problem of a text in YAML, TOML or another format, which no error of the syntax explains.
  private static func otherFormat(_ text: [UInt8]) -> Finding? {
    guard let start = text.firstIndex(where: { $0 > UInt8(ascii: " ") }) else { return nil }
    let isText = text[start] < 0x80 && !text.prefix(4).contains(0)
    if !isText || Array("{/".utf8).contains(text[start]) { return nil }
    return Finding(
      offset: start, message: "this is not JSON; a project file begins with '{'")
  }

  /// A project file without errors.
  struct File {
    var project: Project
    /// In the order of the text.
    var paths: [PathReference]
  }

  /// A path in the file, which need not exist.
  struct PathReference: Hashable {
    var path: Path
    var key: String
    var position: TextPosition
  }

  private(set) var findings: [Finding] = []
  /// The task that has the terminal.
  private var interactiveTask: String?
  private var references: [(path: Path, key: String, offset: Int)] = []

  mutating func notePath(_ text: String, _ field: ProjectField, at offset: Int) {
    references.append((Path(text), field.key.name, offset))
  }

  mutating func note(_ message: String, at offset: Int) {
    findings.append(Finding(offset: offset, message: message))
  }
}

/// All problems of a project file, in the order of its text.
struct ProjectProblems: Error, Hashable {
  var list: [ProjectProblem]
}

// MARK: - The project and its tasks

extension ProjectReader {
  private mutating func project(from top: JSONValue) -> Project {
    var project = Project()
    guard let fields = fields(of: top, .project, named: "a project file") else { return project }
    _ = string(fields["$schema"])
    project.jobs = count(fields["jobs"])
    project.defaults = defaults(fields)
    project.ignores = globs(fields["ignore"]) ?? []
    var drafts: [ProjectDraft] = []
    if let tasks = fields["tasks"] {
      guard case .object(let members) = tasks.value.content else {
        mismatch(tasks)
        return project
      }
      drafts = draftTasks(members)
    }
    if drafts.isEmpty && (fields["tasks"] != nil || !isMisspelt("tasks", in: top, .project)) {
      note(
        #"there is no task; write one, as in tasks: { build: { run: "make" } }"#,
        at: fields["tasks"]?.value.offset ?? top.offset)
    }
    checkDependencies(drafts)
    checkPorts(drafts)
    project.tasks = drafts.compactMap(\.task)
    project.pages = drafts.compactMap(\.page)
    return project
  }

  private mutating func defaults(_ fields: ProjectFields) -> Project.Defaults {
    Project.Defaults(
      quietPeriod: quietPeriod(fields["debounce"]), clearsScreen: boolean(fields["clear"]),
      polling: polling(fields["poll"]), skipsUnchanged: boolean(fields["skipUnchanged"]),
      shell: shell(fields["shell"]), colorMode: choice(fields["color"]),
      notifyMode: choice(fields["notify"]),
      diagnosticsFile: string(fields["diagnostics"]).map { Path($0) },
      outputMode: choice(fields["output"]))
  }

  private mutating func draftTasks(_ members: [JSONValue.Member]) -> [ProjectDraft] {
    noteRepeated(members)
    var known: Set<String> = []
    return members.filter { known.insert($0.key).inserted }.map { member in
      checkName(member)
      var draft = ProjectDraft(name: member.key, nameOffset: member.keyOffset)
      guard case .object = member.value.content else {
        note(
          "the task '\(Path(member.key))' must be an object, as in { run: \"make\" }, "
            + "not \(member.value.kindName)", at: member.value.offset)
        return draft
      }
      let keys = member.value.members.map(\.key)
      draft.isPage = !keys.contains("run") && (keys.contains("serve") || keys.contains("proxy"))
      if draft.isPage { readPage(member, &draft) } else { readTask(member, &draft) }
      return draft
    }
  }

  private mutating func checkName(_ member: JSONValue.Member) {
    let isPlain = member.key.utf8.allSatisfy {
      $0 >= 0x80 || JSONParser.isNameByte($0) || Array("-.:".utf8).contains($0)
    }
    // Characters that are not shown, or that change the direction of text, make a name look like another.
    let isVisible = Path(member.key).description == member.key
    if member.key.isEmpty || !isPlain || !isVisible || member.key.hasPrefix("-") {
      note(
        "'\(Path(member.key))' is not a valid task name; use letters, digits, '_', and, after the "
          + "first character, '-', '.' and ':'", at: member.keyOffset)
    }
  }

  private mutating func readTask(_ member: JSONValue.Member, _ draft: inout ProjectDraft) {
    let title = "the task '\(Path(member.key))'"
    guard let fields = fields(of: member.value, .task, named: title) else { return }
    let run = run(fields["run"])
    if fields["run"] == nil && !isMisspelt("run", in: member.value, .task) {
      note(
        "\(title) has nothing to run; add 'run' (or 'serve' or 'proxy' for a page)",
        at: member.keyOffset)
    }
    draft.references = after(fields["after"])
    let isKeptAlive = boolean(fields["keepAlive"]) ?? false
    let isService = (boolean(fields["service"]) ?? false) || isKeptAlive
    if isService { draft.milestone = fields["ready"] == nil ? .undefined : .readiness }
    var task = Project.Task(name: member.key, run: run ?? .words([]))
    task.shell = shell(fields["shell"])
    task.directory = path(fields["directory"])
    task.environment = variables(fields["env"])
    task.watched = paths(fields["watch"]) ?? (fields["after"] == nil ? ["."] : [])
    task.extensions = extensions(fields["exts"])
    task.filters = globs(fields["filter"]) ?? []
    task.ignores = globs(fields["ignore"]) ?? []
    task.kinds = kinds(fields["events"])
    task.after = draft.references.map(\.name)
    (task.isService, task.isKeptAlive) = (isService, isKeptAlive)
    task.readiness = readiness(fields["ready"])
    task.busyMode = choice(fields["onBusy"])
    if let signal = signal(fields["stopSignal"]) { task.stopPlan.signal = signal }
    if let time = duration(fields["stopTimeout"]) { task.stopPlan.timeout = time }
    task.timeout = positiveDuration(fields["timeout"])
    task.isPostponed = boolean(fields["postpone"]) ?? false
    task.outputMode = choice(fields["output"])
    task.usesPseudoTerminal = boolean(fields["pty"])
    task.isInteractive = boolean(fields["interactive"]) ?? false
    task.onSuccess = string(fields["onSuccess"]).map { Array($0.utf8) }
    task.onFailure = string(fields["onFailure"]).map { Array($0.utf8) }
    checkTogether(task, fields)
    draft.task = task
  }

  /// Checks combinations of keys that are valid one by one.
  private mutating func checkTogether(_ task: Project.Task, _ fields: ProjectFields) {
    if !task.isService {
      if let field = fields["ready"] {
        note("'ready' is for services; add service: true", at: field.keyOffset)
      }
    } else {
      if let field = fields["timeout"] {
        note(
          "a service does not end, so it has no 'timeout'; limit its start with "
            + "ready: { timeout: … }", at: field.keyOffset)
      }
      if let field = fields["onBusy"], task.busyMode == .queue {
        note(
          "a service does not end, so 'queue' would wait forever; "
            + "remove 'onBusy' to restart the service", at: field.value.offset)
      }
    }
    if fields["service"] != nil, let field = fields["keepAlive"] {
      note(
        "'keepAlive' makes the task a service, which is restarted however often it ends; "
          + "remove 'service' or 'keepAlive'",
        at: field.keyOffset)
    }
    if task.isInteractive, let field = fields["interactive"] {
      if let other = exchange(&interactiveTask, with: task.name) {
        note(
          "only one task can have the terminal, and '\(other)' is interactive",
          at: field.keyOffset)
      }
      if let field = fields["pty"] ?? fields["output"] {
        note(
          "an interactive task writes to the terminal itself, so '\(field.key.name)' has no effect; "
            + "remove one of them", at: field.keyOffset)
      }
    }
    guard task.watched.isEmpty else { return }
    for name in ["exts", "filter", "ignore", "events"] {
      guard let field = fields[name] else { continue }
      note(
        "'\(name)' filters changes, but the task watches nothing; add watch: [\".\"]",
        at: field.keyOffset)
    }
  }
}
