import Synchronization
import SystemCalls

/// The processes that read what this process prints, as in `watchrun make | tee log`. They are looked up once, when
/// something has changed.
final class OutputReaders: Sendable {
  private let processes = Mutex<[pid_t]?>(nil)

  /// Those of the paths that one of them has open for writing.
  func filesOpenForWriting(_ paths: [Path]) -> Set<Path> {
    let processes = processes.withLock { known in
      let processes = known ?? outputReaders()
      known = processes
      return processes
    }
    return processes.reduce(into: []) { found, process in
      found.formUnion(ProcessGroup(leader: process).filesOpenForWriting(paths).keys)
    }
  }
}
