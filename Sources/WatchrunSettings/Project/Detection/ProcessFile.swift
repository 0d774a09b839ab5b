import ActionRunning
import PathFiltering
import Support
import SystemCalls

/// A Procfile and its `.env`, as foreman understands them.
enum ProcessFile {
  /// Whether a file that is named with `--config` is one.
  static func isMeant(by file: Path) -> Bool {
    file.lastComponent.decoded.hasPrefix("Procfile")
  }

  /// What processes usually write where they run.
  static let products = ["/log/", "/logs/", "/tmp/", "*.log", "*.pid"]

  /// The project of a Procfile that was named, without what `.env` adds.
  static func project(in text: String, of directory: ProjectDirectory) -> Project {
    var project = Project()
    project.ignores = products.compactMap { GlobPattern(line: $0.utf8) }
    project.tasks = tasks(in: text, of: directory)
    project.readVariables(ofProcessesIn: directory)
    return project
  }

  /// The services. Each one has a port of its own, 100 after that of the one before.
  static func tasks(in text: String, of directory: ProjectDirectory) -> [Project.Task] {
    let processes = processes(in: text)
    let first = firstPort(in: directory, count: processes.count)
    let tasks = processes.enumerated().map { index, process in
      var task = process
      task.isService = true
      task.environment = [.init(name: "PORT".word, value: String(first + 100 * index).word)]
      let script = ProjectDetection.Script(process.line, in: directory)
      task.watched = script.watched.map { Path($0) }
      task.ignores = task.watched == ["."] ? GlobPattern.all(script.ignored) : []
      return task
    }
    return tasks.filter { !GoalNames.isOneTime($0.name) }
  }

  private static let usualPort = 5000

  static func processes(in text: String) -> [Project.Task] {
    var known: Set<String> = []
    return text.split(whereSeparator: \.isNewline).compactMap {
      (line: Substring) -> Project.Task? in
      guard let colon = line.firstIndex(of: ":"), line.first != "#", line.first != "-" else {
        return nil
      }
      let name = String(line[..<colon])
      let command = line[colon...].dropFirst().drop { $0.isWhitespace }
      guard !name.isEmpty, name.utf8.allSatisfy({ JSONParser.isNameByte($0) || $0 == 0x2D }),
        !command.isEmpty, known.insert(name).inserted
      else { return nil }
      return Project.Task(name, String(command))
    }
  }

  /// What the variable says, if that leaves a port for each process.
  private static func firstPort(in directory: ProjectDirectory, count: Int) -> Int {
    let text = directory.text(of: environmentFile) ?? ""
    let variables = try? EnvironmentFile.variables(in: Array(text.utf8))
    let own = variables?.last { $0.name.elementsEqual("PORT".utf8) }?.value
    let given = (environmentVariable("PORT") ?? own?.decoded).flatMap { UInt16($0) }
    let first = given.map(Int.init) ?? usualPort
    return first + 100 * count > UInt16.max ? usualPort : first
  }

  fileprivate static let environmentFile = ".env"
}

extension Project {
  /// Sets the variables of processes, which say their ports, too.
  mutating func readVariables(ofProcessesIn directory: ProjectDirectory) {
    let file = ProcessFile.environmentFile
    environmentFiles = directory.holds(file) ? [Path(file)] : []
    sources = (ProjectDetection.procfile.files + [file]).map { Path($0) }
  }
}
