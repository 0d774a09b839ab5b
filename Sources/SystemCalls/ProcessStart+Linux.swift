#if os(Linux)

extension FileTime {
  /// When this process began, or a little later.
  ///
  /// Between a program's start and its first instruction lie milliseconds, in which it is loaded;
  /// whoever started it need not wait for that before changing a file. The kernel gives the start
  /// only in hundredths of a second, and stamps files by a clock that ticks every few milliseconds. Of
  /// what these leave open the latest is taken: what was changed before must not count.
  package static func processStart() -> FileTime {
    guard let start = startSinceBoot() else { return now() }
    // The clocks are read one right after the other: what passes in between is taken for age.
    let present = latest()
    let age = max(time(CLOCK_BOOTTIME) - start, time(CLOCK_PROCESS_CPUTIME_ID))
    return age < longestLoading ? FileTime(nanoseconds: present.nanoseconds - age) : now()
  }

  /// A process older than this was another program before, such as a shell that has become this
  /// one; what it did then is no change.
  private static let longestLoading: Int64 = 1_000_000_000

  /// When this process began, rounded up, in nanoseconds.
  private static func startSinceBoot() -> Int64? {
    // `42 (name) S 1 …`: after the name, which may hold anything, the start is the 20th field.
    guard let line = try? fileContents(of: "/proc/self/stat"),
      let nameEnd = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = Int64(String(decoding: fields[19], as: UTF8.self)) else {
      return nil
    }
    return (start + 1) * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
  }

  private static func time(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

#endif  // os(Linux)
