/// Why tasks do not make a graph.
public enum TaskGraphError: Error, Sendable, Hashable {
  /// Two tasks have this name.
  case duplicateName(String)
  /// A task stands after one that there is not; the nearest name, if one is near.
  case unknownTask(String, after: String, nearest: String?)
  /// Each of these stands after the next one, and the last after the first.
  case cycle([String])
  /// Others wait for this service, and nothing says when it is ready.
  case serviceWithoutReadiness(String, awaitedBy: String)
  /// It is asked for a task that there is not; the nearest name, if one is near.
  case noSuchTask(String, nearest: String?)
  /// The service is to be ready when this address answers, and it is none that can be asked.
  case unusableAddress(String, url: String)
}

extension TaskGraphError: CustomStringConvertible {
  /// The thing, the cause and the remedy, in one line.
  public var description: String {
    switch self {
    case .duplicateName(let name):
      "there are two tasks called '\(name)'; give one another name"
    case .unknownTask(let task, let name, let nearest):
      "task '\(task)' stands after '\(name)', which is no task" + Self.hint(nearest)
    case .cycle(let names):
      if names.count == 1 {
        "task '\(names[0])' stands after itself; take it out of its own 'after'"
      } else {
        "tasks stand after each other in a circle: "
          + (names + names.prefix(1)).joined(separator: " → ") + "; take one out of an 'after'"
      }
    case .serviceWithoutReadiness(let service, let waiting):
      "'\(waiting)' waits for the service '\(service)'; say when that is ready"
    case .noSuchTask(let name, let nearest):
      "there is no task called '\(name)'" + Self.hint(nearest)
    case .unusableAddress(let task, let url):
      "task '\(task)' cannot be asked at '\(url)'; it takes an address such as "
        + "http://localhost:8080/health"
    }
  }

  private static func hint(_ nearest: String?) -> String {
    nearest.map { "; did you mean '\($0)'?" } ?? ""
  }
}
