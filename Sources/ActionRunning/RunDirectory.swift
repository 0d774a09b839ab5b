import FileObservation
import Synchronization
import SystemCalls

/// A private temporary folder for what runs are given to read.
final class RunDirectory: Sendable {
  private struct State {
    var path: Path?
    var names: Set<String> = []
  }

  private let state = Mutex(State())

  deinit {
    remove()
  }

  /// Writes what the job's next run is given to read, as a file of that name.
  func write(_ text: [UInt8], _ name: String, for job: ActionQueue.Job) throws(SystemError) -> Path
  {
    // One a job: the command may still read its own while its next version is built.
    let name = "\(job.rawValue)-\(name)"
    do throws(SystemError) {
      return try makeFile(name, text)
    } catch {
      guard error.isNotFound else { throw error }
      // Somebody who tidies up temporary folders has removed it.
      state.withLock { $0.path = nil }
      return try makeFile(name, text)
    }
  }

  private func makeFile(_ name: String, _ text: [UInt8]) throws(SystemError) -> Path {
    let file = try makeFolder(with: name).appending(name)
    // A new file: what an earlier run may have open stays as it is.
    removeFile(file)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    let descriptor = try Descriptor.open(file, flags, mode: 0o600)
    try writeAll(text, to: descriptor.number)
    return file
  }

  /// Removes the folder and what is in it.
  func remove() {
    let old = state.withLock { state in
      defer { state = State() }
      return state
    }
    guard let folder = old.path else { return }
    for name in old.names { removeFile(folder.appending(name)) }
    removeDirectory(folder)
  }

  private func makeFolder(with name: String) throws(SystemError) -> Path {
    try state.withLock { state throws(SystemError) in
      state.names.insert(name)
      if let path = state.path { return path }
      let path = try makeTemporaryDirectory(prefix: "watchrun-")
      state.path = path
      return path
    }
  }
}
