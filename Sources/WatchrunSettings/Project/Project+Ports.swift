import ActionRunning
import Support

// The ports of services, which their variables, readiness checks and pages name.

extension Project {
  /// The project in which variables, readiness checks and proxies have the ports of its services.
  ///
  /// - Parameter choose: Chooses a free port for a service, the same one each time.
  package func choosingPorts(_ choose: (String) -> UInt16) -> Project {
    let ports = tasks.compactMap { task in
      task.port.map { (task: task.name, number: $0 == Task.freePort ? choose(task.name) : $0) }
    }
    if ports.isEmpty { return self }
    func port(of task: String) -> UInt16? { ports.first { $0.task == task }?.number }
    var project = self
    let all = ports.map { Command.EnvironmentVariable(Self.variable(of: $0.task), "\($0.number)") }
    for (index, task) in tasks.enumerated() {
      let own = port(of: task.name)
      project.tasks[index].portVariables = all.filter { variable in
        !task.environment.contains { $0.name == variable.name }
      }
      project.tasks[index].port = own
      if let own {
        project.tasks[index].environment =
          [.init(Task.portVariable, "\(own)")] + task.environment
        project.tasks[index].listen?.port = own
        if task.readiness == nil { project.tasks[index].readiness = .init(.port(own)) }
      }
    }
    for (page, proxies) in pages.map(\.proxies).enumerated() {
      for (index, proxy) in proxies.enumerated() {
        guard case .task(let name) = proxy.server, let port = port(of: name) else { continue }
        let listen = project.tasks.first { $0.name == name }?.listen
        project.pages[page].proxies[index].server = listen?.server ?? .port(port)
      }
      for task in project.tasks {
        guard let listen = task.listen, listen.isLocal else { continue }
        project.pages[page].holdSocket(atPort: listen.port)
      }
    }
    return project
  }

  /// The variable with the port of a service for all tasks, as in `WEB_API_PORT` for `web-api`.
  static func variable(of task: String) -> String {
    let name = task.utf8.map { byte in
      byte.isLetterASCII ? byte & ~0x20 : byte.isDigitASCII ? byte : UInt8(ascii: "_")
    }
    return name.decoded + "_" + Task.portVariable
  }
}

extension Project.Task {
  /// The port that stands for any free one.
  package static let freePort: UInt16 = 0
  package static let portVariable = "PORT"
}
