#if os(Linux)

import Dispatch
import Synchronization
import SystemCalls

@testable import FileObservation

/// Behaves as kqueue's vnode filter does, by means of inotify: it follows the inode and not the path,
/// tells nothing of names, and of a folder only that an entry came or went; and what is to be watched
/// is under watch only some time after it was asked for.
final class KqueueLikeSource: VnodeSource {
  private struct Watched {
    let isFolder: Bool
    let queue: DispatchQueue
    let handler: @Sendable (VnodeEvents) -> Void
  }

  private struct State {
    /// Several may watch one inode: then the kernel has one watch for them.
    var watched: [Int32: [Int: Watched]] = [:]
    var places: [Int: Int32] = [:]
    var count = 0
  }

  let capacity: Int
  private let kernel: Kernel
  private let reading = DispatchQueue(label: "test.kqueue")
  private let state = Mutex(State())
  // Made in `init` and cancelled in `deinit`, and only kept in between.
  nonisolated(unsafe) private let source: any DispatchSourceRead

  init(capacity: Int = .max) {
    self.capacity = capacity
    guard let inotify = try? Inotify() else { preconditionFailure("no inotify instance to be had") }
    kernel = Kernel(inotify: inotify)
    source = DispatchSource.makeReadSource(
      fileDescriptor: inotify.descriptor.number, queue: reading)
    source.setEventHandler { @Sendable [weak self] in self?.read() }
    // The descriptor outlives its source.
    source.setCancelHandler { @Sendable [kernel] in withExtendedLifetime(kernel) {} }
    source.activate()
  }

  // Read on the queue of its source only; adding and removing watches is the kernel's to guard.
  private struct Kernel: @unchecked Sendable {
    let inotify: Inotify
  }

  deinit {
    source.cancel()
  }

  func watch(
    _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (VnodeEvents) -> Void
  ) throws(SystemError) -> any VnodeWatch {
    let flags = Int32(bitPattern: 0o10_000_000) | (followsLinks ? 0 : O_NOFOLLOW)  // O_PATH
    let number = try Descriptor.open(Path(cString: path), flags).release()
    let place = Path("/proc/self/fd/\(number)")
    let isFolder = (try? FileStatus(of: place, followsLinks: true).type) == .directory
    let ticket = state.withLock { state in
      state.count += 1
      return state.count
    }
    let watched = Watched(isFolder: isFolder, queue: queue, handler: handler)
    reading.asyncAfter(deadline: .now() + .milliseconds(1)) { [self] in
      register(watched, ticket, at: place)
      _ = Descriptor(owning: number)
      queue.async { handler(.registered) }
    }
    return Ticket { [weak self] in self?.cancel(ticket) }
  }

  private func register(_ watched: Watched, _ ticket: Int, at place: Path) {
    let mask: InotifyMask = [
      .create, .delete, .movedFrom, .movedTo, .modify, .attributes, .deleteSelf, .moveSelf, .add,
    ]
    let watch = place.withCString { start in try? kernel.inotify.addWatch(start, mask) }
    guard let watch else { return }
    state.withLock { state in
      state.watched[watch, default: [:]][ticket] = watched
      state.places[ticket] = watch
    }
  }

  private func cancel(_ ticket: Int) {
    reading.async { [self] in
      let unused = state.withLock { state -> Int32? in
        guard let watch = state.places.removeValue(forKey: ticket) else { return nil }
        state.watched[watch]?[ticket] = nil
        if state.watched[watch]?.isEmpty == false { return nil }
        state.watched[watch] = nil
        return watch
      }
      if let unused { kernel.inotify.removeWatch(unused) }
    }
  }

  private func read() {
    do throws(SystemError) {
      while try kernel.inotify.readEvents({ tell($0) }) {}
    } catch {
      return
    }
  }

  private func tell(_ event: InotifyEvent) {
    let listeners = state.withLock { Array($0.watched[event.watch, default: [:]].values) }
    for listener in listeners {
      guard let events = VnodeEvents(event, isFolder: listener.isFolder) else { continue }
      listener.queue.async { listener.handler(events) }
    }
  }

  private struct Ticket: VnodeWatch {
    let onCancel: @Sendable () -> Void

    func cancel() {
      onCancel()
    }
  }
}

extension VnodeEvents {
  /// Nil for what kqueue does not tell.
  fileprivate init?(_ event: InotifyEvent, isFolder: Bool) {
    let entries: InotifyMask = [.create, .delete, .movedFrom, .movedTo]
    if !event.name.isEmpty {
      // Of a write to a file in a folder, the folder knows nothing.
      guard isFolder, !event.mask.isDisjoint(with: entries) else { return nil }
      self = .written
    } else if !event.mask.isDisjoint(with: [.deleteSelf, .moveSelf]) {
      self = .gone
    } else if event.mask.contains(.modify) {
      self = .written
    } else if event.mask.contains(.attributes) {
      self = .attributes
    } else {
      return nil
    }
  }
}

#endif  // os(Linux)
