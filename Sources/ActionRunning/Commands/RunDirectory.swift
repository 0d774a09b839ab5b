import FileObservation
import Support
import Synchronization
import SystemCalls

/// A private temporary directory for the files that runs read.
package final class RunDirectory: Sendable {
  /// A glob pattern of the names of these directories, in `temporaryFilesDirectory()`.
  package static let namePattern = namePrefix + "??????"
  private static let namePrefix = "watchrun-"

  private struct State {
    var path: Path?
    var names: Set<String> = []
  }

  private let state = Mutex(State())

  deinit {
    remove()
  }

  /// Writes a file for the job's next run.
  func write(_ text: [UInt8], _ name: String, for job: TaskReport.Job) throws(SystemError) -> Path {
    // One file for each job: the command may still read its own while its next version is built.
    let name = "\(job.rawValue)-\(name)"
    do throws(SystemError) {
      return try makeFile(name, text)
    } catch {
      guard error.isNotFound else { throw error }
      // Another program that cleans up temporary directories has removed it.
      state.withLock { $0.path = nil }
      return try makeFile(name, text)
    }
  }

  private func makeFile(_ name: String, _ text: [UInt8]) throws(SystemError) -> Path {
    let file = try makeDirectory(with: name).appending(name)
    // A new file: an earlier run may have the old one open.
    removeFile(file)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    let descriptor = try Descriptor.open(file, flags, mode: 0o600)
    try writeAll(text, to: descriptor.number)
    return file
  }

  func remove() {
    let old = state.withLock { exchange(&$0, with: State()) }
    guard let directory = old.path else { return }
    for name in old.names { removeFile(directory.appending(name)) }
    removeDirectory(directory)
  }

  private func makeDirectory(with name: String) throws(SystemError) -> Path {
    try state.withLock { state throws(SystemError) in
      state.names.insert(name)
      if let path = state.path { return path }
      let path = try makeTemporaryDirectory(prefix: Self.namePrefix)
      state.path = path
      return path
    }
  }
}
