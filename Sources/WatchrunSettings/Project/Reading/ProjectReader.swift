import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

/// Reads a project from the text of its file, and collects all problems.
package struct ProjectReader {
  typealias Finding = ValueReader.Finding

  static func read(_ text: ProjectFileText) throws(Failure) -> File {
    var reader = ProjectReader()
    var project: Project?
    do throws(JSONSyntaxError) {
      project = reader.project(from: try text.value())
    } catch {
      reader.findings = [
        otherFormat(text.text) ?? Finding(offset: error.offset, message: error.message)
      ]
    }
    guard let project, reader.findings.isEmpty else {
      let problems = reader.findings.map { finding -> ProjectProblem in
        let place = text.place(of: finding.offset)
        let problem = ProjectProblem(
          file: place.file, position: place.position, message: finding.message)
        guard let cause = cause(of: finding.offset, in: text) else { return problem }
        let change = text.place(of: cause)
        return ProjectProblem(
          file: change.file, position: change.position,
          message: "this causes an error at \(problem)")
      }
      throw .project(problems.sorted())
    }
    let paths = reader.references.sorted { $0.offset < $1.offset }.map { path -> PathReference in
      let place = text.place(of: path.offset)
      return PathReference(
        path: path.path, key: path.key, file: place.file, position: place.position)
    }
    return File(project: project, paths: paths)
  }

  /// The smallest part of the second text without which the first one has no problem at this position; `nil` if
  /// the problem is in the second text, or has nothing to do with it.
  private static func cause(of offset: Int, in text: ProjectFileText) -> Int? {
    guard offset <= text.text.count, let values = try? text.values(), let local = values.local
    else { return nil }
    return local.offsets.first { part in
      let rest = local.removing(partAt: part).map(values.file.merged) ?? values.file
      var reader = ProjectReader()
      _ = reader.project(from: rest)
      return !reader.findings.contains { $0.offset == offset }
    }
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
  package struct File {
    package var project: Project
    /// In the order of the text.
    package var paths: [PathReference]

    /// The problems of the files with variables that it names. Other paths need not exist.
    package func problemsOfVariables(in source: ProjectSource) -> [ProjectProblem] {
      paths.filter(\.isOfVariables).compactMap { path in
        do throws(Failure) {
          _ = try EnvironmentFile.variables(of: path.path, in: source.directory)
          return nil
        } catch {
          return ProjectProblem(
            file: path.file, position: path.position, message: error.message)
        }
      }
    }
  }

  /// A path in the file, which need not exist.
  package struct PathReference: Hashable {
    package var path: Path
    package var key: String
    package var file: String
    package var position: TextPosition

    package var isOfVariables: Bool { key == "envFile" }

    /// Whether it is there: for `each`, whether a directory has such a file.
    package func exists(in directory: Path) -> Bool {
      if key != "each" {
        return (try? FileStatus(of: path.absolute(from: directory), followsLinks: true)) != nil
      }
      let patterns = (try? GlobPattern.parse(path.bytes)) ?? []
      return patterns.allSatisfy(\.isNegated)
        || !ProjectMembers.directories(with: patterns, in: ProjectDirectory(path: directory))
          .isEmpty
    }
  }

  var findings: [Finding] = []
  private var interactiveTask: String?
  var references: [ValueReader.NamedPath] = []

  mutating func note(_ message: String, at offset: Int) {
    findings.append(Finding(offset: offset, message: message))
  }

  /// Calls `body` with a reader of a field's value, and keeps what it notes.
  mutating func read<Result>(
    _ field: ProjectField, _ body: (inout ValueReader) -> Result
  ) -> Result {
    let kind = field.setting.key?.kind ?? .string
    var reader = ValueReader(field.value, of: field.name, kind)
    defer {
      findings += reader.findings
      references += reader.paths
    }
    return body(&reader)
  }

  /// The value of a field; `nil` if it is missing or invalid.
  mutating func value<Value>(_ type: ValueType<Value>, _ field: ProjectField?) -> Value? {
    field.flatMap { read($0, type.read) }
  }

  /// The values of all fields that set something.
  mutating func assignments(_ fields: [ProjectField]) -> [(name: String, value: Assignment)] {
    fields.compactMap { field in
      read(field, field.setting.read).map { (field.name, $0) }
    }
  }
}

// MARK: - The project and its tasks

extension ProjectReader {
  private mutating func project(from top: JSONValue) -> Project {
    var project = Project()
    guard let fields = fields(of: top, .project, named: "a project file") else { return project }
    for (name, value) in assignments(fields) {
      if let set = value.project { set(&project) } else { project.defaults[name] = value }
    }
    var drafts: [ProjectDraft] = []
    if let tasks = fields["tasks"] {
      guard case .object(let members) = tasks.value.content else {
        read(tasks) { $0.mismatch() }
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
    checkServers(drafts)
    project.tasks = drafts.compactMap(\.task)
    project.pages = drafts.compactMap(\.page)
    return project
  }

  private mutating func draftTasks(_ members: [JSONValue.Member]) -> [ProjectDraft] {
    noteRepeated(members)
    var known: Set<String> = []
    return members.filter { known.insert($0.key).inserted }.map { member in
      if !Self.isTaskName(member.key) {
        note(
          "'\(member.key.printable)' is not a valid task name; use letters, digits, '_', and, after "
            + "the first character, '-', '.' and ':'", at: member.keyOffset)
      }
      var draft = ProjectDraft(name: member.key, nameOffset: member.keyOffset)
      guard case .object = member.value.content else {
        note(
          "the task '\(member.key.printable)' must be an object, as in { run: \"make\" }, "
            + "not \(member.value.kindName)", at: member.value.offset)
        return draft
      }
      let keys = member.value.members.map(\.key)
      let isPage = !keys.contains("run") && (keys.contains("serve") || keys.contains("proxy"))
      if isPage { readPage(member, &draft) } else { readTask(member, &draft) }
      return draft
    }
  }

  static func isTaskName(_ text: String) -> Bool {
    let isPlain = text.utf8.allSatisfy {
      $0 >= 0x80 || JSONParser.isNameByte($0) || Array("-.:".utf8).contains($0)
    }
    // Characters that are not shown, or that change the direction of text, make a name look like another.
    let isVisible = text.printable == text
    // A leading dot would lead the paths of logs to other directories.
    return isPlain && isVisible && text.utf8.first.map { !"-.:".utf8.contains($0) } == true
  }

  private mutating func readTask(_ member: JSONValue.Member, _ draft: inout ProjectDraft) {
    let title = "the task '\(member.key.printable)'"
    guard let fields = fields(of: member.value, .task, named: title) else { return }
    if fields["run"] == nil && !isMisspelt("run", in: member.value, .task) {
      note(
        "\(title) has nothing to run; add 'run' (or 'serve' or 'proxy' for a page)",
        at: member.keyOffset)
    }
    draft.fields = fields
    draft.after = after(fields["after"])
    var task = Project.Task(name: member.key, run: .words([]))
    task.after = draft.after
    for (_, value) in assignments(fields) { value.task?(&task) }
    if fields["watch"] == nil && fields["after"] == nil && !task.isManual && task.each.isEmpty {
      task.watched = ["."]
    }
    task.readiness = readiness(fields["ready"])
    checkTogether(task, fields)
    draft.task = task
  }

  /// The dependencies, each once.
  mutating func after(_ field: ProjectField?) -> [String] {
    guard let field else { return [] }
    return read(field) { reader in
      var names: [String] = []
      for (text, offset) in reader.elements() ?? [] {
        let name = text.decoded
        if names.contains(name) {
          reader.note("'\(name.printable)' occurs twice; remove one", at: offset)
        } else {
          names.append(name)
        }
      }
      return names
    }
  }

  private mutating func readiness(_ field: ProjectField?) -> TaskDefinition.Readiness? {
    guard let field else { return nil }
    guard case .object = field.value.content else {
      read(field) { $0.mismatch() }
      return nil
    }
    guard let fields = fields(of: field.value, .readiness, named: "'ready'") else { return nil }
    let port = value(.port, fields["port"]).map { TaskDefinition.Readiness.Condition.port($0) }
    let url = value(.url, fields["url"])
    let statuses = value(.statuses, fields["status"]) ?? []
    let line = value(.string, fields["line"]).map { TaskDefinition.Readiness.Condition.line($0) }
    let command = value(.command, fields["run"]).map { run in
      TaskDefinition.Readiness.Condition.command(run.command)
    }
    let interval = value(.positiveDuration, fields["interval"])
    let timeout = value(.positiveDuration, fields["timeout"])
    let mayExist = value(.boolean, fields["existing"]) ?? false
    let given = ["port", "url", "line", "run"].compactMap { fields[$0] }
    let isKnown = field.value.members.allSatisfy { fields[$0.key] != nil }
    if given.count > 1 || (given.isEmpty && isKnown) {
      let what = given.isEmpty ? "is empty" : "has more than one condition"
      note("'ready' \(what); give it one of port, url, line and run", at: field.keyOffset)
    }
    if fields["url"] == nil {
      refuse(["status"], in: fields, "'status' is about answers of a 'url'; add one, or remove it")
    }
    let address = url.map { TaskDefinition.Readiness.Condition.url($0, statuses: statuses) }
    guard let condition = port ?? address ?? line ?? command else { return nil }
    var readiness = TaskDefinition.Readiness(condition)
    if let timeout { readiness.timeout = timeout }
    readiness.interval = interval
    readiness.detectsConflicts = !mayExist
    return readiness
  }

  /// Checks combinations of keys that are valid one by one.
  private mutating func checkTogether(_ task: Project.Task, _ fields: [ProjectField]) {
    if task.isService {
      refuse(
        ["timeout"], in: fields,
        "a service does not end, so it has no 'timeout'; limit its start with "
          + "ready: { timeout: … }")
      if let field = fields["onBusy"], task.onBusy == .queue {
        note(
          "a service does not end, so 'queue' would wait forever; "
            + "remove 'onBusy' to restart the service", at: field.value.offset)
      }
      if task.onBusy == .overlap { checkOverlap(task, fields) }
    } else {
      if let field = fields["onBusy"], task.onBusy == .overlap {
        note("'overlap' is for services; add service: true", at: field.value.offset)
      }
      refuse(["ready"], in: fields, "'ready' is for services; add service: true")
      refuse(
        ["port", "listen", "stop", "restartLimit", "backOff"], in: fields,
        "'%' is for services; add service: true")
    }
    if task.port != nil, task.environment.contains(where: { $0.name.elementsEqual("PORT".utf8) }) {
      refuse(["port", "listen"], in: fields, "'%' and 'env' both set PORT; remove one of them")
    }
    if fields["listen"] != nil {
      refuse(["port"], in: fields, "'listen' says the port; remove 'port'")
    }
    if task.isKeptAlive {
      refuse(
        ["restartLimit"], in: fields,
        "with 'keepAlive', a service is restarted however often it ends; remove 'restartLimit', or "
          + "write service: true instead")
    }
    checkTests(task, fields)
    if task.isManual {
      refuse(
        ["watch"], in: fields,
        "'watch' starts a task on changes, and a manual task is started on request; "
          + "remove one of them")
    }
    if task.isInteractive, let field = fields["interactive"] {
      if let other = exchange(&interactiveTask, with: task.name) {
        note(
          "only one task can have the terminal, and '\(other)' is interactive",
          at: field.keyOffset)
      }
      refuse(
        ["log", "output", "pty"], in: fields,
        "an interactive task writes to the terminal itself, so '%' has no effect; "
          + "remove one of them")
    }
    if let path = task.environment.last(where: \.isPATH), path.flaw == nil, task.needsShellInPATH,
      findProgram("sh".word, in: programDirectories(path.value)) == nil
    {
      refuse(
        ["env"], in: fields,
        "no directory of 'PATH' has 'sh', which runs the shell line; add one: "
          + "PATH: \"\(path.value.printable):/usr/bin:/bin\"")
    }
    if !task.each.isEmpty {
      refuse(
        ["directory", "service", "keepAlive", "interactive"], in: fields,
        "'each' runs a task that ends in several directories, so '%' has no meaning; remove it")
    }
    if task.watched.isEmpty && (task.each.isEmpty || task.isManual) {
      refuse(
        ["exts", "filter", "ignore", "events"], in: fields,
        "'%' filters changes, but the task watches nothing; "
          + (task.isManual ? "remove it" : "add watch: [\".\"]"))
      refuse(
        ["map"], in: fields,
        "'map' is about changed files, but the task watches nothing; "
          + (task.isManual ? "remove it" : "add watch: [\".\"]"))
      refuse(
        ["writes"], in: fields,
        "'%' keeps changes from starting the task, but it watches nothing; "
          + "add it to the task that watches them")
    }
  }

  /// Checks a service of which two processes run for a while.
  private mutating func checkOverlap(_ task: Project.Task, _ fields: [ProjectField]) {
    if fields["listen"] == nil {
      refuse(
        ["port"], in: fields,
        "with 'overlap', two processes run for a while, and one has the 'port'; write 'listen' "
          + "instead, which both share")
      switch task.readiness?.condition {
      case .port, .url:
        refuse(
          ["ready"], in: fields,
          "with 'overlap', the former process answers while the new one starts; "
            + "write ready: { line: … } or { run: … }, or add 'listen'")
      case .line, .command, nil: break
      }
    }
    refuse(
      ["stop"], in: fields,
      "with 'overlap', two processes run for a while, which the command of 'stop' cannot tell apart; "
        + "remove 'stop'")
    if task.isInteractive {
      refuse(
        ["interactive"], in: fields,
        "with 'overlap', two processes run for a while, and one has the terminal; remove '%'")
    }
  }

  /// Checks that the command has the word that the tests replace if there are some.
  private mutating func checkTests(_ task: Project.Task, _ fields: [ProjectField]) {
    guard let run = fields["run"], task.run != .words([]) else { return }
    if task.isService {
      refuse(["map"], in: fields, "a service runs no tests that end; remove 'map'")
    }
    if fields["map"] == nil && task.run.takesTests {
      note(
        "{tests} is replaced by what 'map' says; add it, as in "
          + #"map: { "src/(.*)[.]py": "tests/test_$1.py" }"#, at: run.value.offset)
    }
    if !task.run.takesTests {
      refuse(
        ["map"], in: fields,
        #"'map' replaces {tests} in 'run', which has no such word; add it, as in run: "pytest {tests}""#
      )
    }
  }

  /// Notes each of these keys with a message, in which `%` stands for the key.
  mutating func refuse(_ names: [String], in fields: [ProjectField], _ message: String) {
    for field in names.compactMap({ fields[$0] }) {
      note(message.filled(with: field.name), at: field.keyOffset)
    }
  }
}

extension Project.Task {
  /// Whether `sh` is looked up to run a line of the task.
  fileprivate var needsShellInPATH: Bool {
    if shell != .whenNeeded { return false }
    if case .line = run { return true }
    return onSuccess != nil || onFailure != nil
  }
}
