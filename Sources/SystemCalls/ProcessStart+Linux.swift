#if os(Linux)

extension FileTime {
  /// What a file changed just after this process began is stamped with, at the earliest.
  ///
  /// Between a program's start and its first instruction lie milliseconds, in which it is loaded;
  /// whoever started it need not wait for that before changing a file. The kernel gives the start in
  /// hundredths of a second, so what was changed up to two of them before it counts as later.
  package static func processStart() -> FileTime {
    guard let start = startSinceBoot() else { return now() }
    // What passes between the readings of two clocks is taken for age, so it must be next to nothing.
    var before = sinceBoot()
    for _ in 0..<8 {
      let now = FileTime.latest()
      let after = sinceBoot()
      let age = after - start
      if age >= longestLoading { break }
      if after - before < coarsestTick / 10 {
        return FileTime(nanoseconds: now.nanoseconds - age - coarsestTick)
      }
      before = after
    }
    return now()
  }

  /// A process older than this was another program before, such as a shell that has become this
  /// one; what it did then is no change.
  private static let longestLoading: Int64 = 1_000_000_000
  /// By how much a file's time may lie behind, at the slowest clock that kernels are built with.
  private static let coarsestTick: Int64 = 10_000_000

  /// The time since the system's start, in nanoseconds.
  private static func sinceBoot() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// When this process began, rounded down, in nanoseconds.
  private static func startSinceBoot() -> Int64? {
    // `42 (name) S 1 …`: after the name, which may hold anything, the start is the 20th field.
    guard let line = try? readFile("/proc/self/stat"),
      let nameEnd = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = Int64(String(decoding: fields[19], as: UTF8.self)) else {
      return nil
    }
    return start * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
  }
}

#endif  // os(Linux)
