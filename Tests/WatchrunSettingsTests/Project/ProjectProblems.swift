@testable import WatchrunSettings

/// The problems that the reader finds in project files.
enum ProjectProblems {
  /// The problems of a file with this text.
  static func of(_ text: String) -> [String] {
    of(Array(text.utf8), as: "watchrun.json").map(\.description)
  }

  static func of(_ text: [UInt8], as file: String) -> [ProjectProblem] {
    do throws(Failure) {
      _ = try ProjectReader.read(text, as: file)
    } catch {
      if case .project(let problems) = error { return problems }
    }
    return []
  }

  /// The problems of a file with only this task, which is on the second line.
  static func ofTask(_ task: String) -> [String] {
    of("{ tasks: { t:\n\(task) } }")
  }
}

extension ProjectReader {
  static func read(_ text: [UInt8], as file: String) throws(Failure) -> File {
    try read(ProjectFileText(file: file, text: text))
  }
}
