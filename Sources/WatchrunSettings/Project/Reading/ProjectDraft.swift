import ActionRunning
import SystemCalls

/// A task or page as far as it could be read, with its keys, which have positions.
struct ProjectDraft {
  let name: String
  let nameOffset: Int
  var fields: [ProjectField] = []
  /// The names in `after`.
  var after: [String] = []
  /// One of them, if the value is an object.
  var task: Project.Task?
  var page: Project.Page?

  /// Whether it is a service with a port.
  var hasPort: Bool { task.map { $0.isService && $0.port != nil } ?? false }

  /// What a dependent waits for.
  var milestone: TaskGraph.Node.Milestone {
    guard let task else { return page == nil ? .success : .none }
    return task.isService && fields["ready"] == nil && !hasPort ? .undefined : .success
  }

  /// The port that nothing else may have.
  var port: (number: UInt16, offset: Int)? {
    let listen = fields["listen"]
    // Of several manual services, one may take the place of another.
    let isTaken = page != nil || listen != nil || hasPort && task?.isManual == false
    guard isTaken, let number = task?.port ?? page?.port, number != Project.Task.freePort,
      let field = listen ?? fields["port"]
    else { return nil }
    return (number, field.value.offset)
  }

  /// The tasks that a page names as its servers.
  var servers: [(name: String, offset: Int)] {
    guard let page, let proxy = fields["proxy"]?.value else { return [] }
    return ([proxy] + proxy.members.map(\.value)).compactMap { value in
      guard let name = value.text, page.proxies.contains(where: { $0.server == .task(name) })
      else { return nil }
      return (name, value.offset)
    }
  }

  func offset(of dependency: String) -> Int {
    fields["after"]?.value.oneOrMore.first { $0.text == dependency }?.offset ?? nameOffset
  }
}

// MARK: - Checks of several tasks

extension ProjectReader {
  mutating func checkDependencies(_ drafts: [ProjectDraft]) {
    let nodes = drafts.map { draft in
      TaskGraph.Node(draft.name, dependencies: draft.after, milestone: draft.milestone)
    }
    for problem in TaskGraph.problems(of: nodes) { note(problem, in: drafts) }
  }

  /// Notes a problem at the place in the file where its remedy belongs.
  private mutating func note(_ problem: TaskGraphError, in drafts: [ProjectDraft]) {
    func offset(of name: String) -> Int { drafts.first { $0.name == name }?.nameOffset ?? 0 }
    func offset(of dependency: String, in dependent: String) -> Int {
      drafts.first { $0.name == dependent }?.offset(of: dependency) ?? 0
    }
    switch problem {
    case .unknownDependency(let name, let dependent, let nearest):
      let tasks = drafts.filter { $0.page == nil && $0.name != dependent }.map(\.name.printable)
      let isOnlyTask = drafts.contains { $0.page == nil && $0.name == dependent }
      let all =
        !tasks.isEmpty
        ? "tasks: \(tasks.joined(separator: ", "))"
        : isOnlyTask
          ? "'\(dependent.printable)' is the only task, and a task cannot depend on itself"
          : "there are only pages"
      note(
        problem.mistake + (nearest == nil ? "; \(all)" : ""), at: offset(of: name, in: dependent))
    case .notATask(let name, let dependent):
      note(problem.mistake, at: offset(of: name, in: dependent))
    case .cycle(let names):
      note(
        "\(problem.mistake); remove one of them from its 'after'",
        at: offset(of: names[names.count == 1 ? 0 : 1], in: names[0]))
    case .serviceWithoutReadiness(let name, _):
      note(
        "\(problem.mistake); define when it is ready, as in ready: { port: 8080 }",
        at: offset(of: name))
    case .duplicateName(let name), .unknownTask(let name, _), .unusableAddress(let name, _):
      note("\(problem)", at: offset(of: name))
    }
  }

  /// Checks that each server of a page that is a task has a port.
  mutating func checkServers(_ drafts: [ProjectDraft]) {
    for server in drafts.flatMap(\.servers) {
      let name = server.name.printable
      guard let task = drafts.first(where: { $0.name == server.name && $0.page == nil }) else {
        let expectation = ValueKind.servers.expectation
        note("'proxy' must be \(expectation), not \"\(name)\"", at: server.offset)
        continue
      }
      if !task.hasPort {
        note(
          "the task '\(name)' has no 'port'; add port: \"auto\" to it, or write its port here",
          at: server.offset)
      }
    }
  }

  mutating func checkPorts(_ drafts: [ProjectDraft]) {
    var owners: [UInt16: String] = [:]
    var names: [String: String] = [:]
    for draft in drafts {
      if draft.hasPort {
        let variable = Project.variable(of: draft.name)
        if let owner = names[variable] {
          note(
            "the port of '\(draft.name.printable)' is in \(variable), as that of "
              + "'\(owner.printable)' is; rename one of them", at: draft.nameOffset)
        }
        names[variable] = draft.name
      }
      guard let port = draft.port else { continue }
      if let owner = owners[port.number] {
        note(
          "port \(port.number) is already used by '\(owner.printable)'; choose another",
          at: port.offset)
      } else {
        owners[port.number] = draft.name
      }
    }
  }
}
