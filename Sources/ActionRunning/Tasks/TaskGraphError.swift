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
    case .duplicateName(let name):
      "two tasks have the name '\(Path(name))'; rename one"
    case .unknownDependency(let name, let dependent, let nearest):
      "task '\(Path(dependent))' depends on '\(Path(name))', which does not exist"
        + Self.hint(nearest)
    case .notATask(let name, let dependent):
      "task '\(Path(dependent))' depends on '\(Path(name))', which is not a task"
    case .cycle(let names):
      if names.count == 1 {
        "task '\(Path(names[0]))' depends on itself; remove that dependency"
      } else {
        "tasks depend on one another: "
          + (names + names.prefix(1)).map { Path($0).description }.joined(separator: " → ")
          + "; remove one of these dependencies"
      }
    case .serviceWithoutReadiness(let service, let dependent):
      "task '\(Path(dependent))' depends on the service '\(Path(service))', "
        + "which has no readiness check; add one"
    case .unknownTask(let name, let nearest):
      "there is no task '\(Path(name))'" + Self.hint(nearest)
    case .unusableAddress(let task, let url):
      "the readiness URL '\(Path(url))' of task '\(Path(task))' is not supported; "
        + "use one such as http://localhost:8080/health"
    }
  }

  private static func hint(_ nearest: String?) -> String {
    nearest.map { "; did you mean '\(Path($0))'?" } ?? ""
  }
}
