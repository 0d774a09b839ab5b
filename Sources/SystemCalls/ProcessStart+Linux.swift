#if os(Linux)

extension FileTime {
  /// What a file changed just after this process began is stamped with, at the earliest.
  ///
  /// Between a program's start and its first instruction lie milliseconds, in which it is loaded;
  /// whoever started it need not wait for that before changing a file. The kernel gives the start in
  /// hundredths of a second, and stamps files by a clock that ticks every few milliseconds: what was
  /// changed so shortly before the start cannot be told from what was changed after it.
  package static func processStart() -> FileTime {
    guard let start = startSinceBoot() else { return now() }
    var tick = timespec()
    clock_getres(CLOCK_REALTIME_COARSE, &tick)
    // The clocks are read one right after the other: what passes in between is taken for age.
    let present = latest()
    var sinceBoot = timespec()
    clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
    let age = sinceBoot.nanoseconds - start
    guard age < longestLoading else { return now() }
    return FileTime(nanoseconds: present.nanoseconds - age - tick.nanoseconds)
  }

  /// A process older than this was another program before, such as a shell that has become this
  /// one; what it did then is no change.
  private static let longestLoading: Int64 = 1_000_000_000

  /// When this process began, rounded down, in nanoseconds.
  private static func startSinceBoot() -> Int64? {
    // `42 (name) S 1 …`: after the name, which may hold anything, the start is the 20th field.
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
