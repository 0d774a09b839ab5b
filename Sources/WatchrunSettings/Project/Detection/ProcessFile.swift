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

  /// The project of a Procfile that was named.
  static func project(in text: String, of directory: ProjectDirectory) -> Project {
    var project = Project()
    project.ignores = products.compactMap { GlobPattern(line: $0.utf8) }
    project.tasks = steps(in: text, of: directory).map { step in
      var task = Project.Task(name: step.name, run: .line(step.run))
      task.isService = true
      task.watched = ["."]
      task.environment = step.environment
      return task
    }
    return project.addingVariables(variables(in: directory))
  }

  /// The services. Each one has a port of its own, 100 after that of the one before.
  static func steps(in text: String, of directory: ProjectDirectory) -> [ProjectKind.Step] {
    let first = firstPort(in: directory)
    let steps = processes(in: text).enumerated().map { index, process in
      var step = process
      step.isService = true
      step.environment = [.init(name: "PORT".word, value: String(first + 100 * index).word)]
      return step
    }
    return steps.filter { !GoalNames.isOneTime($0.name) }
  }

  static func processes(in text: String) -> [ProjectKind.Step] {
    var known: Set<String> = []
    return text.split(whereSeparator: \.isNewline).compactMap {
      (line: Substring) -> ProjectKind.Step? in
      guard let colon = line.firstIndex(of: ":"), line.first != "#", line.first != "-" else {
        return nil
      }
      let name = String(line[..<colon])
      let command = line[colon...].dropFirst().drop { $0.isWhitespace }
      guard !name.isEmpty, name.utf8.allSatisfy({ JSONParser.isNameByte($0) || $0 == 0x2D }),
        !command.isEmpty, known.insert(name).inserted
      else { return nil }
      return ProjectKind.Step(name, String(command))
    }
  }

  private static func firstPort(in directory: ProjectDirectory) -> Int {
    let own = variables(in: directory).last { $0.name.elementsEqual("PORT".utf8) }?.value
    let given = own.map { $0.decoded } ?? environmentVariable("PORT")
    return given.flatMap { Int($0) } ?? 5000
  }

  static func variables(in directory: ProjectDirectory) -> [Command.EnvironmentVariable] {
    (directory.text(of: ".env") ?? "").split(whereSeparator: \.isNewline).compactMap {
      (line: Substring) -> Command.EnvironmentVariable? in
      guard let cut = line.firstIndex(of: "=") else { return nil }
      let name = line[..<cut]
      guard !name.isEmpty,
        name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
      else { return nil }
      return .init(name: Array(name.utf8), value: value(line[cut...].dropFirst()).word)
    }
  }

  /// The value, without quotes. Only in double quotes is a backslash special.
  private static func value(_ text: Substring) -> String {
    guard text.count > 1, let quote = text.first, quote == text.last, "'\"".contains(quote) else {
      return String(text)
    }
    let inner = text.dropFirst().dropLast()
    if quote == "'" { return String(inner) }
    var result = ""
    var isEscaped = false
    for character in inner {
      if isEscaped {
        result.append(character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        result.append(character)
      }
    }
    return result
  }
}

extension Project {
  /// The project whose services have these variables, too. Their own ones are kept.
  func addingVariables(_ variables: [Command.EnvironmentVariable]) -> Project {
    var project = self
    for index in tasks.indices where tasks[index].isService {
      let own = tasks[index].environment
      project.tasks[index].environment =
        variables.filter { variable in !own.contains { $0.name == variable.name } } + own
    }
    return project
  }
}
