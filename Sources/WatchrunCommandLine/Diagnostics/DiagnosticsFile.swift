import Diagnostics
import Synchronization
import SystemCalls

/// The file of `--diagnostics`: the errors, warnings and notes of all tasks, a line each, for editors.
///
/// It is replaced as a whole, so that no reader finds a part of it, and only if its content changes. Others may
/// read it, remove it, and change it.
final class DiagnosticsFile: Sendable {
  /// A glob pattern of the names of the files through which it is replaced, in its directory.
  static let temporaryNames = temporaryPrefix + "*"
  private static let temporaryPrefix = ".watchrun-diagnostics-"

  private struct State {
    var content: [UInt8]?
    var hasFailed = false
  }

  private let path: Path
  /// Where relative paths in the file start: the directory of the session, in which editors run.
  private let directory: Path
  private let console: Console
  private let state = Mutex(State())

  /// - Parameter path: An absolute path.
  init(_ path: Path, directory: Path, _ console: Console) {
    (self.directory, self.console) = (directory, console)
    // A symbolic link stays one.
    self.path = (try? resolvedPath(path)) ?? path
  }

  /// Why the file of an option cannot be written at all; `nil` if it can.
  static func problem(with path: Path) -> String? {
    if let status = try? FileStatus(of: path, followsLinks: true), status.type != .file {
      return "it is not a file"
    }
    let parent = path.parent.flatMap { try? FileStatus(of: $0, followsLinks: true) }
    return parent?.type == .directory ? nil : "its directory does not exist"
  }

  /// Writes the diagnostics, unless the file holds them already.
  func write(_ diagnostics: [Diagnostic]) {
    let text = diagnostics.map { $0.quickfixLine(in: directory) + "\n" }.joined()
    let content = Array(text.utf8)
    let exists = (try? FileStatus(of: path, followsLinks: true)) != nil
    if exists && state.withLock({ $0.content == content }) { return }
    do throws(SystemError) {
      if let problem = Self.problem(with: path) { return report(problem) }
      let name = Self.temporaryPrefix + String(processIDs().own)
      guard let temporary = path.parent?.appending(name) else { return }
      try replaceFile(path, with: content, through: temporary)
      state.withLock { $0 = State(content: content) }
    } catch {
      report(error.reason)
    }
  }

  /// Reports the first of several failures in a row.
  private func report(_ reason: String) {
    let isFirst = state.withLock { state in
      state.content = nil
      return !exchange(&state.hasFailed, with: true)
    }
    if isFirst { console.warn("cannot write \(path): \(reason)") }
  }
}
