#if os(Linux)

extension FileTime {
  /// The earliest timestamp of a file that changed after this process was started.
  ///
  /// Loading a program takes milliseconds, in which files may change. The kernel reports the start in
  /// hundredths of a second, and file timestamps tick every few milliseconds: a change so shortly before the
  /// start cannot be distinguished from one after it.
  package static func processStart() -> FileTime {
    guard let start = startSinceBoot() else { return now() }
    var tick = timespec()
    clock_getres(CLOCK_REALTIME_COARSE, &tick)
    // The clocks are read in this order, so that the time between them counts as age.
    let present = latest()
    var sinceBoot = timespec()
    clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
    let age = sinceBoot.nanoseconds - start
    guard age < longestLoading else { return now() }
    return FileTime(nanoseconds: present.nanoseconds - age - tick.nanoseconds)
  }

  /// A process older than this ran another program before, such as a shell that executed this one. On a busy
  /// machine, loading takes seconds.
  private static let longestLoading: Int64 = 5_000_000_000

  /// The start of this process since the boot, rounded down, in nanoseconds.
  private static func startSinceBoot() -> Int64? {
    // `42 (name) S 1 …`: the start is the 20th field after the name, which may contain any byte.
    guard let line = try? fileContents(of: "/proc/self/stat"),
      let nameEnd = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = Int64(String(decoding: fields[19], as: UTF8.self)) else {
      return nil
    }
    return start * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
  }
}

extension timespec {
  fileprivate var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}

#endif  // os(Linux)
