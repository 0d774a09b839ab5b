#if os(Linux)

/// The processes that the system shows to this user; `nil` if it shows none.
func runningProcesses() -> [pid_t]? {
  (try? directoryNames(of: "/proc"))?.compactMap { $0.string.flatMap { pid_t($0) } }
}

/// The content of a file in `/proc`; empty if it cannot be read.
func processFile(_ path: Path) -> [UInt8] { ((try? fileContents(of: path)) ?? nil) ?? [] }

/// The first line of a file in `/proc`, for display.
func processLine(_ path: Path) -> String {
  Path(bytes: processFile(path).prefix { $0 != UInt8(ascii: "\n") }).description
}

extension pid_t {
  /// The directory of the process in `/proc`.
  var directory: Path { Path("/proc/\(self)") }

  /// The numbers of its descriptors, and what they refer to.
  func descriptors() throws(SystemError) -> [(number: Path, target: Path)] {
    let links = directory.appending("fd")
    return try directoryNames(of: links).compactMap { number in
      (try? linkTarget(of: links.appending(number.bytes))).map { (number, $0) }
    }
  }

  /// The name of its program, as the kernel shows it.
  var programName: String { processLine(directory.appending("comm")) }

  /// The users as whom it runs, from a line such as `Uid:	0	0	0	0`: the real one decides who may send it signals,
  /// and the effective one is charged with what it uses.
  var users: (real: uid_t, effective: uid_t)? {
    let lines = processFile(directory.appending("status")).split(separator: UInt8(ascii: "\n"))
    let line = lines.first { $0.starts(with: "Uid:".utf8) } ?? []
    let numbers = line.split(separator: UInt8(ascii: "\t")).dropFirst().prefix(2)
      .compactMap { uid_t(String(decoding: $0, as: UTF8.self)) }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
  }
}

#endif  // os(Linux)
