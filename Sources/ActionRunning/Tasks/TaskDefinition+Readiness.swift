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
