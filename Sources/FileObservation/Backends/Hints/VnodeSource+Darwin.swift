#if canImport(Darwin)

import Dispatch
import SystemCalls

/// Vnodes watched by kqueue, through Dispatch.
package struct SystemVnodeSource: VnodeSource {
  package let capacity: Int

  /// Raises the limit of open files as far as it goes, and leaves some for all else.
  package init() {
    capacity = max(16, raiseDescriptorLimit() - 64)
  }

  package func watch(
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
    // Nowhere else: until then the source may still use it.
    source.setCancelHandler { @Sendable in _ = close(descriptor) }
    source.activate()
    return watch
  }

  // A source may be used from any thread; its type does not say so. The event handler holds it until
  // it is cancelled.
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
