import ActionRunning
import LiveReload
import Support
import SystemCalls

// The ports of services, which their variables, readiness checks and pages name, and the servers of pages.

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

extension Project.Page {
  /// The file that is served for missing paths.
  package var fallbackFile: Path? {
    guard let served, let fallback else { return nil }
    return served.appending(fallback.word)
  }

  /// The proxies, which have been validated.
  package var rules: [ProxyRule] { proxies.compactMap(\.rule) }

  /// The server that answers all requests without a rule of their own.
  package var upstream: ServerAddress? { rules.first(where: \.matchesAll)?.server }

  /// Whether it would be a proxy for itself.
  var isOwnServer: Bool { rules.contains { $0.server.isLocal && $0.server.port == port } }

  /// Notes that watchrun holds the socket of a server on this machine.
  package mutating func holdSocket(atPort port: UInt16) {
    for (index, proxy) in proxies.enumerated() {
      guard let server = proxy.rule?.server, server.isLocal, server.port == port else {
        continue
      }
      proxies[index].isHeld = true
    }
  }
}

extension Project.Page.Proxy {
  /// The rule; `nil` for a URL with a query, and for a task whose port is not known.
  fileprivate var rule: ProxyRule? {
    var address: ServerAddress? =
      switch server {
      case .port(let port): ServerAddress(port: port)
      case .url(let url): ServerAddress(url: url)
      case .task: nil
      }
    address?.isHeld = isHeld
    return address.flatMap { ProxyRule(path: path, server: $0) }
  }
}
