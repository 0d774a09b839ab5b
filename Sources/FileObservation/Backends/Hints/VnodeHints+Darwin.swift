#if canImport(Darwin)

import Dispatch
import SystemCalls

extension VnodeHints {
  /// Hints from kqueue, through Dispatch. Raises the limit of open files as far as possible, and reserves some for
  /// other uses.
  convenience init() {
    self.init(capacity: max(16, raiseDescriptorLimit() - 64), watchVnode: makeVnodeWatch)
  }
}

@Sendable
private func makeVnodeWatch(
  _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
  _ handler: @escaping @Sendable (_ isGone: Bool) -> Void
) throws(SystemError) -> (@Sendable () -> Void) {
  let flags = O_EVTONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_SYMLINK)
  let descriptor = try checked("open") { open(path, flags) }
  // A Dispatch source may be used from any thread, though its type is not Sendable. The event handler
  // retains it until it is cancelled.
  nonisolated(unsafe) let source = DispatchSource.makeFileSystemObjectSource(
    fileDescriptor: descriptor, eventMask: .all, queue: queue)
  source.setRegistrationHandler { @Sendable in handler(false) }
  source.setEventHandler { @Sendable in
    handler(!source.data.isDisjoint(with: [.delete, .rename, .revoke]))
  }
  // Not earlier: until it is cancelled, the source may use the descriptor.
  source.setCancelHandler { @Sendable in _ = close(descriptor) }
  source.activate()
  return { source.cancel() }
}

#endif  // canImport(Darwin)
