import CSystem

/// What processes and their descendants have done since their start, as far as the kernel tells.
package struct ProcessActivity: Hashable, Sendable {
  /// What changes whenever one of them writes, or another one starts or ends.
  package struct Writes: Hashable, Sendable {
    /// The bytes that they and their reaped children have written, to files as to anything else.
    /// Writes by way of memory maps are not counted.
    package var bytes: UInt64
    /// The bytes of the pages of files that they have made dirty, also by way of memory maps. File
    /// systems in memory, and pages that are dirty already, are not counted.
    package var dirtied: UInt64
    /// The page faults of reaped children.
    package var childFaults: UInt64
    /// A hash of the processes.
    package var processes: UInt64

    package init(
      bytes: UInt64 = 0, dirtied: UInt64 = 0, childFaults: UInt64 = 0, processes: UInt64 = 0
    ) {
      self.bytes = bytes
      self.dirtied = dirtied
      self.childFaults = childFaults
      self.processes = processes
    }
  }

  package var writes: Writes
  /// A hash of how often each of their threads has stopped to run.
  package var switches: UInt64
  /// Whether a thread may be in the middle of a change, so that it is not counted yet.
  package var isRunning: Bool

  package init(writes: Writes = Writes(), switches: UInt64 = 0, isRunning: Bool = false) {
    self.writes = writes
    self.switches = switches
    self.isRunning = isRunning
  }

  /// Queries processes and their descendants. Returns `nil` where the kernel does not tell: on other
  /// systems than Linux, and for processes of other users.
  ///
  /// - Parameter others: The children of this process that are no orphans it has adopted, nor are the members of their
  ///   groups. All orphans count. `nil` if this process does not adopt the descendants whose parents have ended, so that
  ///   they are not found.
  package init?(of leaders: [pid_t], adoptingAllBut others: [pid_t]? = nil) {
    var activity = csystem_process_activity()
    let children = others ?? []
    guard
      csystem_process_activity(
        leaders, Int32(leaders.count), children, Int32(children.count), others != nil, &activity)
        == 0
    else { return nil }
    writes = Writes(
      bytes: activity.written, dirtied: activity.dirtied, childFaults: activity.child_faults,
      processes: activity.processes)
    (switches, isRunning) = (activity.switches, activity.is_running)
  }
}

/// Makes this process adopt its descendants whose parents have ended. It must reap them. Returns the
/// children that it has before; `nil` if the system cannot do that.
package func adoptOrphans() -> [pid_t]? {
  let capacity = 256
  var children = [pid_t](repeating: 0, count: capacity)
  let count = csystem_adopt_orphans(&children, Int32(capacity))
  return count < 0 ? nil : Array(children.prefix(Int(count)))
}

/// The processes that read what this process prints from a pipe, and those that read what they print, as in
/// `watchrun make | grep error | tee log`.
package func outputReaders() -> [pid_t] {
  let capacity = 16
  var processes = [pid_t](repeating: 0, count: capacity)
  let count = csystem_output_readers(&processes, Int32(capacity))
  return Array(processes.prefix(Int(count)))
}

/// How a process has a file open that it can write.
package enum WriteMode: Hashable, Sendable {
  /// For reading as well, at any place.
  case update
  /// For writing or appending only.
  case write
}

extension ProcessGroup {
  /// The current directory of the leader or the descendant that runs a program with one of these names, in lines with
  /// a line break before the first one; `nil` if none does. Not known of other systems than Linux.
  package func directory(ofProgramIn names: StaticString) -> Path? {
    let process = csystem_process_of_program(leader, lines(names))
    if process == 0 { return nil }
    return (try? linkTarget(of: Path("/proc/\(process)/cwd"))) ?? "."
  }

  /// Sends a signal to the members of groups. Returns false if none of them accepts signals from this process.
  ///
  /// - Parameter names: The programs, in such lines, that are suspended until their descendants have ended, and the others
  ///   until these have: each for half a second at most, and on Linux only.
  package static func send(
    _ signal: Signal, to groups: [ProcessGroup], holding names: StaticString? = nil
  ) -> Bool {
    groups.isEmpty
      || csystem_signal_groups(
        groups.map(\.leader), Int32(groups.count), signal.rawValue, names.map(lines)) > 0
  }

  /// Those of the paths that the leader or a descendant has open for writing.
  package func filesOpenForWriting(_ paths: [Path]) -> [Path: WriteMode] {
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
    if files.isEmpty { return [:] }
    var modes = [csystem_open_mode](repeating: CSYSTEM_NOT_WRITABLE, count: files.count)
    csystem_files_open_for_writing(leader, files, Int32(files.count), &modes)
    return zip(known, modes).reduce(into: [:]) { found, entry in
      if entry.1 != CSYSTEM_NOT_WRITABLE {
        found[entry.0] = entry.1 == CSYSTEM_WRITTEN ? .write : .update
      }
    }
  }
}

private func lines(_ names: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(names.utf8Start).assumingMemoryBound(to: CChar.self)
}
