import SystemCalls

/// Why tasks do not make a graph.
public enum TaskGraphError: Error, Sendable, Hashable {
  /// Two tasks have this name.
  case duplicateName(String)
  /// A dependency does not exist; with the nearest existing name, if one is near.
  case unknownDependency(String, dependent: String, nearest: String?)
  /// A dependency exists but is not a task.
  case notATask(String, dependent: String)
  /// Each of these tasks depends on the next one, and the last on the first.
  case cycle([String])
  /// A service has a dependent, but no readiness for which the dependent could wait.
  case serviceWithoutReadiness(String, dependent: String)
  /// A requested task does not exist; with the nearest existing name, if one is near.
  case unknownTask(String, nearest: String?)
  /// The URL of a readiness check is not one that can be requested.
  case unusableAddress(task: String, url: String)
}

extension TaskGraphError: CustomStringConvertible {
  /// The mistake and its remedy, in one line.
  public var description: String {
    switch self {
    case .unknownDependency(_, let dependent, _), .notATask(_, let dependent):
      "task '\(dependent.printable)': \(mistake)"
    case .unknownTask: mistake
    case .duplicateName: "\(mistake); rename one"
    case .cycle: "\(mistake); remove one of these dependencies"
    case .serviceWithoutReadiness: "\(mistake); define when it is ready"
    case .unusableAddress: "\(mistake); use one such as http://localhost:8080/health"
    }
  }

  /// The mistake, to which a reader of files adds its place and what to do in the file.
  package var mistake: String {
    switch self {
    case .duplicateName(let name): "two tasks have the name '\(name.printable)'"
    case .unknownDependency(let name, _, let nearest), .unknownTask(let name, let nearest):
      "there is no task '\(name.printable)'"
        + (nearest.map { "; did you mean '\($0.printable)'?" } ?? "")
    case .notATask(let name, _):
      "'\(name.printable)' is a page, and nothing can depend on a page; name a task"
    case .cycle(let names):
      (names.count == 1 ? "a task depends on itself: " : "tasks depend on one another: ")
        + (names + names.prefix(1)).map(\.printable).joined(separator: " → ")
    case .serviceWithoutReadiness(let service, let dependent):
      "'\(dependent.printable)' depends on the service '\(service.printable)', which does not end"
    case .unusableAddress(let task, let url):
      "the readiness URL '\(url.printable)' of task '\(task.printable)' is not supported"
    }
  }
}
