#if os(Linux)

import Dispatch
import SystemCalls

/// Hints from inotify. The watch of a directory names the entry that changed.
final class InotifyHints: HintSource {
  let inotify: Inotify
  private var source: (any DispatchSourceRead)?

  init(_ inotify: Inotify) {
    self.inotify = inotify
  }

  var name: String { "inotify" }
  var namesEntries: Bool { true }
  var settlingTime: Duration { .zero }

  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: inotify.readiness.number, queue: queue)
    // The handlers use it on the queue, as everything else does.
    nonisolated(unsafe) let inotify = inotify
    source.setEventHandler { @Sendable in
      inotify.disarm()
      hintsAvailable()
    }
    // The descriptor must stay open until the source no longer uses it.
    source.setCancelHandler { @Sendable in withExtendedLifetime(inotify) {} }
    source.activate()
    self.source = source
  }

  func rearm() throws(SystemError) {
    try inotify.rearm()
  }

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    try inotify.addWatch(path, subject.mask)
  }

  func unwatch(_ watch: Int32) {
    inotify.removeWatch(watch)
  }

  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime {
    var end: FileTime
    repeat { end = .now() } while try inotify.readEvents({ body(Hint($0)) })
    return end
  }

  var queueLimit: Int? { Inotify.queueLimit }

  func stop() {
    source?.cancel()
    source = nil
  }
}

extension WatchSubject {
  private static let entries: InotifyMask = [
    .create, .delete, .modify, .closeAfterWrite, .attributes, .movedFrom, .movedTo,
    .onlyDirectory, .excludeUnlinked, .add,
  ]

  fileprivate var mask: InotifyMask {
    switch self {
    case .directory: Self.entries.union(.dontFollow)
    case .anchor: Self.entries.union([.deleteSelf, .moveSelf])
    case .file: [.modify, .closeAfterWrite, .attributes, .deleteSelf, .moveSelf, .dontFollow, .add]
    }
  }
}

extension Hint {
  init(_ event: InotifyEvent) {
    self.init(
      watch: event.watch, reasons: Reasons(event.mask), cookie: event.cookie, name: event.name)
  }
}

extension Hint.Reasons {
  fileprivate init(_ mask: InotifyMask) {
    // A set literal would be built at run time for each event.
    var reasons: Hint.Reasons = []
    if mask.contains(.create) { reasons.formUnion(.appeared) }
    if mask.contains(.delete) { reasons.formUnion(.disappeared) }
    if mask.contains(.movedTo) { reasons.formUnion([.appeared, .moved]) }
    if mask.contains(.movedFrom) { reasons.formUnion([.disappeared, .moved]) }
    if mask.contains(.modify) { reasons.formUnion(.written) }
    if mask.contains(.closeAfterWrite) { reasons.formUnion([.written, .closed]) }
    if mask.contains(.attributes) { reasons.formUnion(.attributes) }
    if mask.contains(.isDirectory) { reasons.formUnion(.directory) }
    if mask.contains(.deleteSelf) { reasons.formUnion(.gone) }
    if mask.contains(.moveSelf) { reasons.formUnion(.gone) }
    if mask.contains(.ignored) { reasons.formUnion(.unwatched) }
    if mask.contains(.unmount) { reasons.formUnion([.gone, .unmounted]) }
    if mask.contains(.queueOverflow) { reasons.formUnion(.overflow) }
    self = reasons
  }
}

#endif  // os(Linux)
