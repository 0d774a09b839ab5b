/// A process that was to be stopped and is still there.
public struct Survivor: Hashable, Sendable {
  /// Its ID.
  public let process: Int32
  /// The name of its program, as the kernel shows it.
  public let name: String
  /// The user to whom it belongs, if this process may not send it signals. Otherwise `nil`: it was killed, but
  /// the kernel has not ended it.
  public let owner: String?

  package init(process: Int32, name: String, owner: String?) {
    self.process = process
    self.name = name
    self.owner = owner
  }
}
