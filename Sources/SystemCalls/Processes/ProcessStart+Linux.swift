#if os(Linux)

extension FileTime {
  /// The earliest timestamp of a file that changed after this process was started.
  ///
  /// Loading a program takes milliseconds, in which files may change. The kernel reports the start in
  /// hundredths of a second, and file timestamps tick every few milliseconds: a change so shortly before the
  /// start cannot be distinguished from one after it.
  package static func processStart() -> FileTime {
    guard let status = ProcessStatus(processFile("/proc/self/stat")) else { return now() }
    var tick = timespec()
    clock_getres(CLOCK_REALTIME_COARSE, &tick)
    // The clocks are read in this order, so that the time between them counts as age.
    let present = latest()
    let age = time(of: CLOCK_BOOTTIME) - status.startSinceBoot
    guard age < status.longestLoading else { return now() }
    return FileTime(nanoseconds: present.nanoseconds - age - Int64(tick.tv_nsec))
  }
}

/// What `/proc/PID/stat` says about a process.
struct ProcessStatus {
  let parent: pid_t
  /// The start of the process since the boot, rounded down, in nanoseconds.
  let startSinceBoot: Int64
  /// Whether it has reaped a child.
  let hadChildren: Bool

  /// A process older than this ran another program before, such as a shell that executed this one. One
  /// that has had no children has hardly done anything else than load, which takes seconds on a busy
  /// machine, or after the whole machine was paused.
  var longestLoading: Int64 { hadChildren ? 5_000_000_000 : 60_000_000_000 }

  /// - Parameter line: The content of the file, `42 (name) S 1 …`. The name may contain any byte.
  init?(_ line: [UInt8]) {
    guard let nameEnd = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
    func number(_ index: Int) -> Int64? {
      index < fields.count ? Int64(String(decoding: fields[index], as: UTF8.self)) : nil
    }
    // Fields are counted from the state. The page faults of children survive an exec.
    guard let start = number(19), let childFaults = number(8), let parent = number(1) else {
      return nil
    }
    self.parent = pid_t(truncatingIfNeeded: parent)
    startSinceBoot = start * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
    hadChildren = childFaults > 0
  }
}

#endif  // os(Linux)
