#if os(Linux)

/// The mask of an inotify watch or event.
package struct InotifyMask: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  private init(_ flag: some BinaryInteger) {
    rawValue = UInt32(truncatingIfNeeded: flag)
  }

  package static let modify = InotifyMask(IN_MODIFY)
  package static let attributes = InotifyMask(IN_ATTRIB)
  package static let closeAfterWrite = InotifyMask(IN_CLOSE_WRITE)
  package static let movedFrom = InotifyMask(IN_MOVED_FROM)
  package static let movedTo = InotifyMask(IN_MOVED_TO)
  package static let create = InotifyMask(IN_CREATE)
  package static let delete = InotifyMask(IN_DELETE)
  package static let deleteSelf = InotifyMask(IN_DELETE_SELF)
  package static let moveSelf = InotifyMask(IN_MOVE_SELF)
  package static let unmount = InotifyMask(IN_UNMOUNT)
  package static let queueOverflow = InotifyMask(IN_Q_OVERFLOW)
  package static let ignored = InotifyMask(IN_IGNORED)
  package static let onlyDirectory = InotifyMask(IN_ONLYDIR)
  package static let dontFollow = InotifyMask(IN_DONT_FOLLOW)
  package static let excludeUnlinked = InotifyMask(IN_EXCL_UNLINK)
  /// Adds to the mask of an existing watch instead of replacing it.
  package static let add = InotifyMask(IN_MASK_ADD)
  package static let isDirectory = InotifyMask(rawValue: 0x4000_0000)
}

/// One event in the read buffer.
package struct InotifyEvent {
  /// The watch descriptor; -1 when the queue has overflowed.
  package let watch: Int32
  package let mask: InotifyMask
  /// A number that the two events of a rename share.
  package let cookie: UInt32
  /// The entry's name in the watched directory; empty for the directory itself. Valid during the call that
  /// delivers the event.
  package let name: UnsafeBufferPointer<UInt8>
}

/// An inotify instance.
package final class Inotify {
  package let descriptor: Descriptor
  /// Readable once when events have arrived, and again only after `rearm`. A source on `descriptor`
  /// itself would wake its queue for each event.
  package let readiness: Descriptor
  private let buffer: UnsafeMutableRawBufferPointer

  package init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try checked("inotify_init1") {
        inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      })
    let number = descriptor.number
    readiness = Descriptor(owning: try checked("epoll_create1") { csystem_readiness_open(number) })
    buffer = .allocate(byteCount: 64 * 1024, alignment: 8)
    // An empty mask is invalid for the kernel; a sandbox that refuses the call does not look at it.
    if inotify_add_watch(number, "/", 0) == -1, errno == EPERM || errno == ENOSYS {
      throw .last("inotify_add_watch")
    }
  }

  deinit {
    buffer.deallocate()
  }

  /// Makes `readiness` unreadable until `rearm`.
  package func disarm() {
    csystem_silence(readiness.number)
  }

  /// Makes `readiness` readable again when there are events, at once if some have not been read.
  package func rearm() throws(SystemError) {
    let (readiness, watched) = (readiness.number, descriptor.number)
    _ = try checked("epoll_ctl") { csystem_readiness_arm(readiness, watched) }
  }

  /// The kernel's limit of queued events per instance; `nil` if it is not known.
  package static var queueLimit: Int? {
    Int(processLine("/proc/sys/fs/inotify/max_queued_events"))
  }

  /// Watches the file or directory at `path`, a C string. Returns the watch descriptor; an inode that is
  /// watched already, by whatever path, keeps its descriptor.
  package func addWatch(
    _ path: UnsafePointer<CChar>, _ mask: InotifyMask
  ) throws(SystemError) -> Int32 {
    let number = descriptor.number
    return try checked("inotify_add_watch") { inotify_add_watch(number, path, mask.rawValue) }
  }

  /// Removes a watch, if the kernel has not removed it already.
  package func removeWatch(_ watch: Int32) {
    inotify_rm_watch(descriptor.number, watch)
  }

  /// Calls `body` with the events of one read. Returns false if there were none.
  package func readEvents(_ body: (InotifyEvent) -> Void) throws(SystemError) -> Bool {
    let number = descriptor.number
    let filled = retryingOnInterrupt { read(number, buffer.baseAddress, buffer.count) }
    if filled < 0 {
      if errno == EAGAIN { return false }
      throw .last("read")
    }
    var offset = 0
    while offset < filled {
      // struct inotify_event: watch 4, mask 4, cookie 4, length 4, name padded with NUL.
      let length = Int(buffer.load(fromByteOffset: offset + 12, as: UInt32.self))
      let padded = UnsafeRawBufferPointer(
        rebasing: buffer[(offset + 16)..<(offset + 16 + length)])
      body(
        InotifyEvent(
          watch: buffer.load(fromByteOffset: offset, as: Int32.self),
          mask: InotifyMask(rawValue: buffer.load(fromByteOffset: offset + 4, as: UInt32.self)),
          cookie: buffer.load(fromByteOffset: offset + 8, as: UInt32.self),
          name: padded.upToNUL))
      offset += 16 + length
    }
    return filled > 0
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes before the first NUL.
  fileprivate var upToNUL: UnsafeBufferPointer<UInt8> {
    let chars = assumingMemoryBound(to: UInt8.self)
    guard let start = chars.baseAddress, let end = memchr(start, 0, chars.count) else {
      return chars
    }
    return UnsafeBufferPointer(start: start, count: UnsafeRawPointer(end) - UnsafeRawPointer(start))
  }
}

#endif  // os(Linux)
