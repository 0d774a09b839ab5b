import Support

/// An error that ends watchrun at its start, or because of which a project file is not used.
package enum Failure: Error, Hashable {
  /// The command line or the project asks for what does not exist or cannot be combined.
  case usage(String)
  /// What was asked for cannot be done here; with the exit status.
  case launch(String, Int32)
  /// The project file has these errors, in the order of its text.
  case project([ProjectProblem])
}

extension Failure {
  package var status: Int32 {
    switch self {
    case .usage, .project: ExitCode.usage
    case .launch(_, let status): status
    }
  }

  /// What is said about it in terminals, pages and JSON, a line each: what happened, why, and what to do.
  package var messages: [String] {
    switch self {
    case .usage(let message), .launch(let message, _): [message]
    case .project(let problems): problems.map(\.description)
    }
  }

  package var message: String { messages.last ?? "" }

  /// The file that has the errors, as it is shown in messages; `nil` for others.
  package var file: String? {
    if case .project(let problems) = self { problems.last?.file } else { nil }
  }
}

/// An error in the project file, with its position.
package struct ProjectProblem: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The file, as it is shown in messages.
  var file: String
  var position: TextPosition
  var message: String

  package var description: String { "\(file):\(position): \(message)" }

  package static func < (left: ProjectProblem, right: ProjectProblem) -> Bool {
    (left.file, left.position.line, left.position.column)
      < (right.file, right.position.line, right.position.column)
  }
}
