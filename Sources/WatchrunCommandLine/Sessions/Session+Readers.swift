import Dispatch
import Support
import SystemCalls
import WatchrunSettings

extension Session {
  /// Ends watchrun as a hang-up does when nothing reads its output any more, in the moment in which the last
  /// reader closes its pipe or socket. Does nothing if this process was started to ignore hang-ups or closed
  /// pipes, as by `nohup`.
  func watchReaders() {
    let readers = console.readers
    readers.whenOver { [self] in endWork(.exit(ExitCode.success), escalates: false) }
    if !ignoredSignals.isDisjoint(with: [.hangup, Signal(rawValue: SIGPIPE)]) { return }
    let queue = DispatchQueue(label: "watchrun.readers")
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      // Without it, a write notices the same. A file has none.
      guard let number = try? openReaderHangUp(of: descriptor).release() else { continue }
      let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
      source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
      source.activateRetained { cancel in
        cancel()
        readers.closed(descriptor)
      }
    }
  }
}
