import Dispatch
import Synchronization
import SystemCalls

@testable import FileObservation

/// The system's disk, on a server that does not answer for a while: each call waits until it does.
final class HangingDisk: Disk, @unchecked Sendable {
  private struct State {
    var hangs = false
    var waiting = 0
  }

  private let state = Mutex(State())
  private let answers = DispatchSemaphore(value: 0)

  /// The number of calls that wait.
  var waiting: Int { state.withLock { $0.waiting } }

  func hang() {
    state.withLock { $0.hangs = true }
  }

  func answer() {
    let waiting = state.withLock { state in
      state.hangs = false
      defer { state.waiting = 0 }
      return state.waiting
    }
    for _ in 0..<waiting { answers.signal() }
  }

  private var system: Disk {
    let waits = state.withLock { state in
      if state.hangs { state.waiting += 1 }
      return state.hangs
    }
    if waits { answers.wait() }
    return Disk()
  }

  override func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus {
    try system.status(of: path, followsLinks: followsLinks)
  }

  override func status(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) -> FileStatus {
    try system.status(ofListed: name, in: directory)
  }

  override func status(of directory: borrowing Descriptor) throws(SystemError) -> FileStatus {
    try system.status(of: directory)
  }

  override func openDirectory(_ path: Path, followsLinks: Bool) throws(SystemError) -> Descriptor {
    try system.openDirectory(path, followsLinks: followsLinks)
  }

  override func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor {
    try system.openDirectory(path, in: parent)
  }

  override func list(
    _ directory: borrowing Descriptor, into listing: inout DirectoryListing
  ) throws(SystemError) {
    try system.list(directory, into: &listing)
  }

  override func linkTarget(of path: Path) throws(SystemError) -> Path {
    try system.linkTarget(of: path)
  }

  override func resolved(_ path: Path) throws(SystemError) -> Path { try system.resolved(path) }

  override var now: FileTime { .now() }
  override var latest: FileTime { .latest() }
}
