import Support
import SystemCalls

/// An error that ends watchrun at its start, or because of which a project file is not used.
enum Failure: Error, Hashable {
  /// The command line or the project asks for what does not exist or cannot be combined.
  case usage(String)
  /// What was asked for cannot be done here; with the exit status.
  case launch(String, Int32)
  /// The project file has these errors, in the order of its text.
  case project([ProjectProblem])
}

extension Failure {
  var status: Int32 {
    switch self {
    case .usage, .project: ExitCode.usage
    case .launch(_, let status): status
    }
  }

  /// What is said about it in terminals, pages and JSON, a line each: what happened, why, and what to do.
  var messages: [String] {
    switch self {
    case .usage(let message), .launch(let message, _): [message]
    case .project(let problems): problems.map(\.description)
    }
  }

  var message: String { messages.last ?? "" }
}

extension Console {
  func report(_ failure: Failure) {
    failure.messages.forEach(problem)
  }
}

/// An error in the project file, with its position.
struct ProjectProblem: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The file, as it is shown in messages.
  var file: String
  var position: TextPosition
  var message: String

  var description: String { "\(file):\(position): \(message)" }

  static func < (left: ProjectProblem, right: ProjectProblem) -> Bool {
    (left.position.line, left.position.column) < (right.position.line, right.position.column)
  }
}

/// Exit statuses of watchrun itself. With `--once` and similar options, it exits with the command's status.
enum ExitCode {
  /// The user ended it, or there was nothing left to do.
  static let success: Int32 = 0
  /// A task of the session that was asked has failed, was skipped or was stopped.
  static let red: Int32 = 1
  /// The session that was asked is busy, paused or held.
  static let unsettled: Int32 = 2
  /// There is no session to ask.
  static let noSession: Int32 = 3
  /// The time of `--wait` is over.
  static let late: Int32 = 124
  /// Wrong usage or configuration (`EX_USAGE`).
  static let usage: Int32 = 64
  /// A path to watch, or the directory of `-C`, does not exist (`EX_NOINPUT`).
  static let noInput: Int32 = 66
  /// The observer failed and could not go on (`EX_SOFTWARE`).
  static let failure: Int32 = 70
  /// Standard output or standard error could not be written (`EX_IOERR`).
  static let outputFailed: Int32 = 74
}

/// Writes to standard output: an answer, such as that of `--list-tasks`, or a part of a stream.
///
/// - Returns: Whether there is still a reader. One that has closed its pipe has read what it needs.
@discardableResult
func writeAnswer(_ bytes: [UInt8]) throws(Failure) -> Bool {
  do throws(SystemError) {
    try writeAll(bytes, to: STDOUT_FILENO)
    return true
  } catch {
    if error.code == EPIPE { return false }
    throw .launch(lostOutputMessage(error), ExitCode.outputFailed)
  }
}

/// The message about output that could not be written.
func lostOutputMessage(_ error: SystemError) -> String {
  "cannot write to standard output: \(error.reason); the output is incomplete"
}
