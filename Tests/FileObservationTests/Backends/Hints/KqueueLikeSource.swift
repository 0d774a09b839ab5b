#if os(Linux)

import Dispatch
import Synchronization
import SystemCalls

@testable import FileObservation

/// Behaves like kqueue's vnode filter, by means of inotify: a watch follows the inode and not the
/// path, does not name the entries of a directory that change, and is only in force some time after
/// it was added.
final class KqueueLikeSource: Sendable {
  private struct Watched {
    let isDirectory: Bool
    let queue: DispatchQueue
    let handler: @Sendable (_ isGone: Bool) -> Void
  }

  private struct State {
    /// Several watches of one inode share a watch in the kernel.
    var watched: [Int32: [Int: Watched]] = [:]
    var places: [Int: Int32] = [:]
    var count = 0
  }

  private let kernel: Kernel
  private let reading = DispatchQueue(label: "test.kqueue")
  private let state = Mutex(State())
  // Created in `init`, cancelled in `deinit`, and not used in between.
  nonisolated(unsafe) private let source: any DispatchSourceRead

  init() {
    guard let inotify = try? Inotify() else { preconditionFailure("no inotify instance to be had") }
    kernel = Kernel(inotify: inotify)
    source = DispatchSource.makeReadSource(
      fileDescriptor: inotify.descriptor.number, queue: reading)
    source.setEventHandler { @Sendable [weak self] in self?.read() }
    // The descriptor outlives its source.
    source.setCancelHandler { @Sendable [kernel] in withExtendedLifetime(kernel) {} }
    source.activate()
  }

  // Read on the queue of its source only. The kernel synchronizes the adding and removing of
  // watches.
  private struct Kernel: @unchecked Sendable {
    let inotify: Inotify
  }

  deinit {
    source.cancel()
  }

  @Sendable func watch(
    _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (_ isGone: Bool) -> Void
  ) throws(SystemError) -> (@Sendable () -> Void) {
    let flags = Int32(bitPattern: 0o10_000_000) | (followsLinks ? 0 : O_NOFOLLOW)  // O_PATH
    let number = try Descriptor.open(Path(cString: path), flags).release()
    let place = Path("/proc/self/fd/\(number)")
    let isDirectory = (try? FileStatus(of: place, followsLinks: true).type) == .directory
    let ticket = state.withLock { state in
      state.count += 1
      return state.count
    }
    let watched = Watched(isDirectory: isDirectory, queue: queue, handler: handler)
    reading.asyncAfter(deadline: .now() + .milliseconds(1)) { [self] in
      register(watched, ticket, at: place)
      _ = Descriptor(owning: number)
      queue.async { handler(false) }
    }
    return { [weak self] in self?.cancel(ticket) }
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
      while try kernel.inotify.readEvents({ report($0) }) {}
    } catch {
      return
    }
  }

  private func report(_ event: InotifyEvent) {
    let listeners = state.withLock { Array($0.watched[event.watch, default: [:]].values) }
    for listener in listeners {
      guard let isGone = isGone(event, isDirectory: listener.isDirectory) else { continue }
      listener.queue.async { listener.handler(isGone) }
    }
  }

  /// Whether the file was removed or renamed; `nil` for events that kqueue does not report.
  private func isGone(_ event: InotifyEvent, isDirectory: Bool) -> Bool? {
    let entries: InotifyMask = [.create, .delete, .movedFrom, .movedTo]
    if !event.name.isEmpty {
      // The watch of a directory does not report writes to its files.
      return isDirectory && !event.mask.isDisjoint(with: entries) ? false : nil
    }
    if !event.mask.isDisjoint(with: [.deleteSelf, .moveSelf]) { return true }
    return event.mask.isDisjoint(with: [.modify, .attributes]) ? nil : false
  }
}

#endif  // os(Linux)
