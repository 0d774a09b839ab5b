import FileObservation
import Synchronization
import SystemCalls

/// A private temporary folder for the lists of paths that runs are given.
final class RunFolder: Sendable {
  private let path = Mutex<Path?>(nil)

  deinit {
    remove()
  }

  /// Writes the paths, a NUL behind each, for the run that begins next. Nil if that fails: a run
  /// without the list is better than none.
  func write(_ paths: [Path]) -> Path? {
    guard let folder = folder() else { return nil }
    let file = folder.appending("paths")
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
    guard let descriptor = try? Descriptor.open(file, flags, mode: 0o600) else { return nil }
    let text = [UInt8](paths.map { $0.bytes + [0] }.joined())
    guard (try? writeAll(text, to: descriptor.number)) != nil else { return nil }
    return file
  }

  /// Removes the folder and what is in it.
  func remove() {
    let folder = path.withLock { path -> Path? in
      defer { path = nil }
      return path
    }
    guard let folder else { return }
    removeFile(folder.appending("paths"))
    removeDirectory(folder)
  }

  private func folder() -> Path? {
    path.withLock { path in
      if path == nil { path = try? makeTemporaryDirectory(prefix: "watchrun-") }
      return path
    }
  }
}
