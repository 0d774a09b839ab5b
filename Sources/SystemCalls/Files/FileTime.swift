/// A timestamp of a file, in nanoseconds since 1970.
package struct FileTime: Hashable, Comparable, Sendable {
  /// The granularity of the kernel's file clock, in nanoseconds, with a margin: changes that are
  /// further apart have different timestamps.
  ///
  /// The kernel takes timestamps from its coarse clock, which ticks 100 to 1000 times a second. A
  /// change may follow another within a tick and leave the timestamp as it is, so a timestamp that was
  /// younger than this when it was read does not prove that the file is unchanged.
  package static let granularity: Int64 = 20_000_000

  package let nanoseconds: Int64

  package init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  package static func < (left: FileTime, right: FileTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  package func advanced(by duration: Duration) -> FileTime {
    let (seconds, attoseconds) = duration.components
    return FileTime(
      nanoseconds: nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
  }

  package func duration(to other: FileTime) -> Duration {
    .nanoseconds(other.nanoseconds - nanoseconds)
  }

  /// The earliest timestamp of a file that changes from now on. The clock ticks every few milliseconds, so
  /// two changes may have the same timestamp.
  package static func now() -> FileTime {
    FileTime(nanoseconds: time(of: fileClock))
  }

  /// The latest timestamp of a file that changed before now. It is later than `now()`, because the kernel
  /// uses a finer clock for files whose timestamps were queried.
  package static func latest() -> FileTime {
    FileTime(nanoseconds: time(of: CLOCK_REALTIME))
  }
}
