import SystemCalls

/// Whether a command that could not be started may start after a change: a build may make the program.
struct LaunchProspects {
  let directory: Path
  /// The watched paths; absolute.
  let watched: [Path]
  /// The directories in which programs are looked up.
  let programs: [Path]

  /// Whether another attempt may succeed after the start failed for this reason.
  func mayImprove(after error: SystemError) -> Bool {
    let isAboutProgram = [ENOENT, ENOTDIR, EACCES].contains(error.code) && error.call != "chdir"
    guard isAboutProgram, let program = error.path else { return true }
    // A pattern that no shell has expanded.
    if program.bytes.contains(where: Array("*?[".utf8).contains) { return false }
    return places(of: program).contains { place in
      watched.contains(where: place.isWithin)
        && (try? FileStatus(of: place, followsLinks: true).type) != .directory
    }
  }

  private func places(of program: Path) -> [Path] {
    if program.bytes.contains(UInt8(ascii: "/")) { return [program.absolute(from: directory)] }
    return programs.map { $0.absolute(from: directory).appending(program.bytes) }
  }
}
