import CSystem

/// What a process and its descendants have done since their start, as far as the kernel tells.
///
/// Descendants whose parents have ended are not found.
package struct ProcessActivity: Hashable, Sendable {
  /// What changes whenever one of them writes, starts or ends.
  package struct Writes: Hashable, Sendable {
    /// The bytes that they and their reaped children have written, to files as to anything else.
    /// Writes by way of memory maps are not counted.
    package let bytes: UInt64
    /// The page faults of reaped children.
    package let childFaults: UInt64
    /// A hash of the processes.
    package let processes: UInt64

    package init(bytes: UInt64, childFaults: UInt64 = 0, processes: UInt64 = 0) {
      self.bytes = bytes
      self.childFaults = childFaults
      self.processes = processes
    }
  }

  package let writes: Writes
  /// The bytes of the pages of files that they have made dirty, also by way of memory maps. File systems
  /// in memory, and pages that are dirty already, are not counted.
  package let dirtied: UInt64
  /// Whether what a child has written that has ended and was not reaped is not known.
  package let isIncomplete: Bool
  /// When the newest of them started, to a hundredth of a second.
  package let newestStart: FileTime

  package init(
    writes: Writes, dirtied: UInt64 = 0, isIncomplete: Bool = false, newestStart: FileTime
  ) {
    self.writes = writes
    self.dirtied = dirtied
    self.isIncomplete = isIncomplete
    self.newestStart = newestStart
  }

  /// Queries the process and its descendants. Returns `nil` where the kernel does not tell: on other
  /// systems than Linux, and for processes of other users.
  package init?(of leader: pid_t) {
    var activity = csystem_process_activity()
    guard csystem_process_activity(leader, &activity) == 0 else { return nil }
    writes = Writes(
      bytes: activity.written, childFaults: activity.child_faults, processes: activity.processes)
    dirtied = activity.dirtied
    isIncomplete = activity.is_incomplete
    newestStart = FileTime(nanoseconds: activity.newest_start_ns)
  }

  /// The activity of several runs.
  package static func + (left: Self, right: Self) -> Self {
    ProcessActivity(
      writes: Writes(
        bytes: left.writes.bytes &+ right.writes.bytes,
        childFaults: left.writes.childFaults &+ right.writes.childFaults,
        processes: left.writes.processes &+ right.writes.processes),
      dirtied: left.dirtied &+ right.dirtied,
      isIncomplete: left.isIncomplete || right.isIncomplete,
      newestStart: max(left.newestStart, right.newestStart))
  }
}

extension ProcessGroup {
  /// Those of the paths that the leader or a descendant has open for writing.
  package func filesOpenForWriting(_ paths: [Path]) -> Set<Path> {
    var files: [csystem_file_status] = []
    var known: [Path] = []
    for path in paths {
      var status = csystem_file_status()
      guard path.withCString({ csystem_file_status(AT_FDCWD, $0, 0, &status) }) == 0 else {
        continue
      }
      files.append(status)
      known.append(path)
    }
    if files.isEmpty { return [] }
    var found = [Bool](repeating: false, count: files.count)
    csystem_files_open_for_writing(leader, files, Int32(files.count), &found)
    return Set(zip(known, found).filter(\.1).map(\.0))
  }
}
