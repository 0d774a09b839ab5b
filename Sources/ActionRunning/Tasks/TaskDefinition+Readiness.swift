extension TaskDefinition {
  /// A readiness check: how a service shows that its dependents can start.
  public struct Readiness: Sendable, Hashable {
    /// What must be observed.
    public enum Condition: Sendable, Hashable {
      /// A process accepts connections at this port of 127.0.0.1 or ::1.
      case port(UInt16)
      /// A GET request for this `http://` URL is answered with a status below 500.
      case url(String)
      /// A line of the service's output contains this string.
      case line(String)
    }

    /// What must be observed.
    public var condition: Condition
    /// How long this may take after the start of the service, before it counts as not ready.
    public var timeout: Duration
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
