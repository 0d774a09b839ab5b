import Support
import SystemCalls

extension TaskDefinition {
  /// A readiness check: how a service shows that its dependents can start.
  public struct Readiness: Sendable, Hashable {
    /// What must be observed.
    public enum Condition: Sendable, Hashable {
      /// A process accepts connections at this port of 127.0.0.1 or ::1.
      case port(UInt16)
      /// A GET request for this `http://` or `https://` URL is answered with one of the statuses; without any, with
      /// one below 500. Certificates are not verified: nothing is sent that a stranger must not read.
      case url(String, statuses: Set<Int> = [])
      /// A line of the service's output contains this string.
      case line(String)
      /// This command succeeds. Its output is dropped. One that runs for ten seconds is killed, and has failed.
      case command(Command)
    }

    /// What must be observed.
    public var condition: Condition
    /// How long this may take after the start of the service, before it counts as not ready.
    public var timeout: Duration
    /// The time between two attempts; `nil` for one that depends on what is observed, and grows.
    public var interval: Duration?
    /// Whether the service is not started while another process meets the condition, which would be
    /// taken for the service.
    public var detectsConflicts = true

    /// Creates a readiness check.
    public init(_ condition: Condition, timeout: Duration = .seconds(30)) {
      self.condition = condition
      self.timeout = timeout
    }
  }
}

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
  var port: UInt16? {
    // Only loopback is sure to be this machine, which has other names and addresses as well.
    guard case .url(let url, _) = self, let address = HTTPAddress(url, allowsTLS: true) else {
      return anyPort
    }
    return HostAddress(host: address.host)?.isLoopback == true ? address.port : nil
  }

  /// The port at which it is asked; `nil` if none is.
  var anyPort: UInt16? {
    switch self {
    case .port(let port): port
    case .url(let url, _): HTTPAddress(url, allowsTLS: true)?.port
    case .line, .command: nil
    }
  }
}
