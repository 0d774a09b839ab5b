@testable import WatchrunCommandLine

/// The problems that the reader finds in project files.
enum ProjectProblems {
  /// The problems of a file with this text.
  static func of(_ text: String) -> [String] {
    switch ProjectReader.read(Array(text.utf8), as: "watchrun.json") {
    case .success: []
    case .failure(let problems): problems.list.map(\.description)
    }
  }

  /// The problems of a file with only this task, which is on the second line.
  static func ofTask(_ task: String) -> [String] {
    of("{ tasks: { t:\n\(task) } }")
  }
}
