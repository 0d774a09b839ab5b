#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Watches vnodes with kqueue, through Dispatch.
struct SystemVnodeSource: VnodeSource {
  let capacity: Int

  /// Raises the limit of open files as far as possible, and reserves some for other uses.
  init() {
    capacity = max(16, raiseDescriptorLimit() - 64)
  }

  func watch(
    _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (VnodeEvents) -> Void
  ) throws(SystemError) -> any VnodeWatch {
    let flags = O_EVTONLY | O_CLOEXEC | (followsLinks ? 0 : O_SYMLINK)
    let descriptor = try checked("open") { open(path, flags) }
    let source = DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: descriptor, eventMask: .all, queue: queue)
    let watch = Watch(source: source)
    source.setRegistrationHandler { @Sendable in handler(.registered) }
    source.setEventHandler { @Sendable in handler(VnodeEvents(watch.source.data)) }
    // Not earlier: until it is cancelled, the source may use the descriptor.
    source.setCancelHandler { @Sendable in _ = close(descriptor) }
    source.activate()
    return watch
  }

  // A Dispatch source may be used from any thread, though its type is not Sendable. The event
  // handler retains it until it is cancelled.
  private struct Watch: VnodeWatch, @unchecked Sendable {
    let source: any DispatchSourceFileSystemObject

    func cancel() {
      source.cancel()
    }
  }
}

extension VnodeEvents {
  fileprivate init(_ event: DispatchSource.FileSystemEvent) {
    self = []
    if !event.isDisjoint(with: [.write, .extend]) { formUnion(.written) }
    if !event.isDisjoint(with: [.attrib, .link]) { formUnion(.attributes) }
    if !event.isDisjoint(with: [.delete, .rename, .revoke]) { formUnion(.gone) }
  }
}

#endif  // canImport(Darwin)
