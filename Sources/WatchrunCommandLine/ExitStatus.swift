/// The statuses with which watchrun itself ends; otherwise it ends with the command's.
enum ExitCode {
  /// Ended by the user, or done.
  static let success: Int32 = 0
  /// Wrong usage or configuration (`EX_USAGE`).
  static let usage: Int32 = 64
  /// A path to watch, or the folder to work in, does not exist (`EX_NOINPUT`).
  static let noInput: Int32 = 66
  /// Watching failed and could not go on (`EX_SOFTWARE`).
  static let failure: Int32 = 70
}

/// What is wrong with the words on the command line, in one line.
struct UsageError: Error, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// What keeps watchrun from beginning: a message, and the status with which it exits.
struct Failure: Error {
  let message: String
  let status: Int32

  init(_ message: String, _ status: Int32) {
    self.message = message
    self.status = status
  }
}
