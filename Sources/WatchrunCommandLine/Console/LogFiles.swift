import ActionRunning
import Support
import Synchronization
import SystemCalls

/// The files of `--log`, to which the output of tasks is appended as text, for people.
///
/// A file that has grown is renamed, and replaces the one that was renamed before. Each run opens its file anew, so that
/// others may remove or rename it.
final class LogFiles: Sendable {
  /// The bytes after which a file is renamed.
  private static let mostBytes = 10_000_000

  private final class File {
    let path: Path
    private let descriptor: Descriptor
    private var size: Int

    init(_ path: Path) throws(SystemError) {
      if let parent = path.parent { try makeDirectories(parent) }
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK
      descriptor = try Descriptor.open(path, flags, mode: 0o666)
      let status = try FileStatus(of: path, followsLinks: true)
      guard status.type == .file else {
        throw SystemError(call: "open", code: EINVAL, path: path)
      }
      (self.path, size) = (path, Int(clamping: status.size))
    }

    /// Returns the file to which the next text is appended.
    func append(_ text: [UInt8]) throws(SystemError) -> File {
      if size > 0 && size + text.count > LogFiles.mostBytes {
        do throws(SystemError) {
          try renameFile(path, to: LogFiles.former(of: path))
        } catch {
          if !error.isNotFound { throw error }
        }
        return try File(path).append(text)
      }
      try writeAll(text, to: descriptor.number)
      size += text.count
      return self
    }
  }

  private struct State {
    var paths: [String: Path] = [:]
    /// The files of removed tasks, which may write until they have ended.
    var former: [String: Path] = [:]
    var files: [Path: File] = [:]
    /// The files that could not be written, until one can.
    var failed: Set<Path> = []
  }

  private let reporter: RunReporter
  private let state = Mutex(State())

  init(_ reporter: RunReporter) { self.reporter = reporter }

  /// The path to which a file is renamed.
  static func former(of path: Path) -> Path { Path(bytes: path.bytes + Array(".1".utf8)) }

  /// Sets the files of the tasks, and opens them. Returns why one cannot be written.
  func setPaths(of plan: SessionPlan) -> String? {
    state.withLock { state in
      var former = state.former
      for (task, path) in state.paths where former[task] == nil && plan.graph[task] == nil {
        former[task] = path
      }
      state = State(paths: plan.observation.logs, former: former)
      return Set(state.paths.values).sorted().compactMap {
        Self.append([], to: $0, opens: true, &state)
      }.first
    }
  }

  func began(_ run: TaskReport.Run) {
    guard run.job == .command else { return }
    let text = reporter.text(of: run.task)
    let label = reporter.isAlone ? "" : run.task.printable + ": "
    let problem = state.withLock { state -> String? in
      state.former[run.task] = nil
      guard let path = state.paths[run.task] else { return nil }
      let title = "── \(LocalTime.now.date) \(label)\(text.shownCommand)\n"
      return Self.append(Array(title.utf8), to: path, opens: true, &state)
    }
    if let problem { reporter.console.warn(problem) }
  }

  func write(_ output: TaskOutput) {
    guard output.isFinished else { return }
    let label = reporter.label(of: output.run.task)
    let problem = state.withLock { state -> String? in
      let task = output.run.task
      guard let path = state.former[task] ?? state.paths[task] else { return nil }
      let isShared = state.paths.contains { $0.key != task && $0.value == path }
      let prefix =
        (reporter.console.showsTimes ? LocalTime.now.prefix : [])
        + (isShared ? label?.prefix ?? [] : [])
      let line = TerminalLine(output.line).text + [UInt8(ascii: "\n")]
      return Self.append(prefix + line, to: path, opens: false, &state)
    }
    if let problem { reporter.console.warn(problem) }
  }

  /// Appends a text, to a file that is opened anew if it must be. Returns the first of several problems with it in a
  /// row.
  private static func append(
    _ text: [UInt8], to path: Path, opens: Bool, _ state: inout State
  ) -> String? {
    do throws(SystemError) {
      if opens || state.files[path] == nil && !state.failed.contains(path) {
        state.files[path] = try File(path)
        state.failed.remove(path)
      }
      if !text.isEmpty, let file = state.files[path] { state.files[path] = try file.append(text) }
      return nil
    } catch {
      state.files[path] = nil
      return state.failed.insert(path).inserted
        ? "cannot write \(path): \(error.code == EINVAL ? "it is not a file" : error.reason)" : nil
    }
  }
}

extension Path {
  /// The file of a task, in whose name `{task}` stands for that of the task.
  func log(of task: String) -> Path {
    let name = Array(task.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "-") : $0 })
    return Path(bytes: bytes.filling([("{task}", name)]))
  }
}
