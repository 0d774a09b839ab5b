/// Exit statuses of watchrun itself. With `--once` and similar options, it exits with the command's status.
package enum ExitCode {
  /// The user ended it, or there was nothing left to do.
  package static let success: Int32 = 0
  /// A task of the session that was asked has failed, was skipped or was stopped.
  package static let red: Int32 = 1
  /// The session that was asked is busy, paused or held, or has run none of the tasks yet.
  package static let unsettled: Int32 = 2
  /// There is no session to ask.
  package static let noSession: Int32 = 3
  /// The time of `--wait` is over.
  package static let late: Int32 = 124
  /// Wrong usage or configuration (`EX_USAGE`).
  package static let usage: Int32 = 64
  /// A path to watch, or the directory of `-C`, does not exist (`EX_NOINPUT`).
  package static let noInput: Int32 = 66
  /// The observer failed and could not go on (`EX_SOFTWARE`).
  package static let failure: Int32 = 70
  /// Standard output or standard error could not be written (`EX_IOERR`).
  package static let outputFailed: Int32 = 74
}
