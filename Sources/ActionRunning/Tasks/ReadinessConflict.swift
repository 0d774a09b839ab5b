import Support
import SystemCalls

/// The reason why a service cannot be started: its readiness check already succeeds, so another process
/// would be taken for the service.
public struct ReadinessConflict: Sendable, Hashable {
  /// The process that answers in place of the service.
  public struct Holder: Sendable, Hashable {
    /// Its process ID.
    public var processID: Int32
    /// The name of its program.
    public var name: String
  }

  /// The condition that holds already.
  public var condition: TaskDefinition.Readiness.Condition
  /// The process that listens at the port, if it is on this machine and this user may see it.
  public var holder: Holder?

  init(_ condition: TaskDefinition.Readiness.Condition) {
    self.condition = condition
    holder = condition.port.flatMap { listener(atPort: $0) }.map {
      Holder(processID: $0.process, name: $0.name)
    }
  }
}

extension TaskDefinition.Readiness.Condition {
  /// The port of this machine at which the service must answer; `nil` if another machine does, or none.
  var port: UInt16? { isOfOtherMachine ? nil : anyPort }

  /// The port at which it is asked; `nil` if none is.
  var anyPort: UInt16? {
    switch self {
    case .port(let port): port
    case .url(let url, _): HTTPAddress(url, allowsTLS: true)?.port
    case .line, .command: nil
    }
  }

  /// Whether another machine may be asked: this one has other names and addresses as well.
  private var isOfOtherMachine: Bool {
    guard case .url(let url, _) = self, let address = HTTPAddress(url, allowsTLS: true) else {
      return false
    }
    return HostAddress(host: address.host)?.isLoopback != true
  }
}
