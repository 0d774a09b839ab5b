/// A process that was to be stopped and is still there.
public struct Survivor: Hashable, Sendable {
  /// Its ID.
  public let process: Int32
  /// The name of its program, as the kernel shows it.
  public let name: String
  /// The user to whom it belongs, if this process may not send it signals. Otherwise `nil`: it was killed, but
  /// the kernel has not ended it.
  public let owner: String?

  /// Creates a description of a process.
  package init(process: Int32, name: String, owner: String?) {
    self.process = process
    self.name = name
    self.owner = owner
  }
}

/// The name of a user of this system, from the file of users; `nil` if it is not there.
func userName(of id: UInt32) -> String? {
  guard let users = try? fileContents(of: "/etc/passwd") else { return nil }
  for line in users.split(separator: UInt8(ascii: "\n")) {
    let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard fields.count > 2, UInt32(String(decoding: fields[2], as: UTF8.self)) == id else {
      continue
    }
    return Path(bytes: fields[0]).description
  }
  return nil
}
