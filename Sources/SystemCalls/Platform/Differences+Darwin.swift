#if canImport(Darwin)

// What is small and different on macOS, or not known there.

/// The user's directory for caches, relative to the home directory.
package let cacheDirectoryName = "Library/Caches"

/// The program that opens a URL as the user wishes.
package let openerOfURLs = "open"

/// The path of the file that a descriptor refers to; `nil` if it is not a regular file, or was unlinked.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  var name = [CChar](repeating: 0, count: Int(PATH_MAX))
  guard fcntl(descriptor, F_GETPATH, &name) == 0 else { return nil }
  let path = Path(cString: name)
  guard let status = try? FileStatus(of: path), status.type == .file else { return nil }
  return path
}

extension InotifyUsage {
  /// The present usage by other processes; `nil` where there is no inotify.
  package static func current() -> InotifyUsage? { nil }
}

/// The process that listens at a TCP port. Not known here.
package func listener(atPort port: UInt16) -> (process: pid_t, name: String)? { nil }

/// The processes that listen at a TCP port. Not known here.
package func listeningProcesses(
  atPort port: UInt16, after former: ListeningProcesses?
) -> ListeningProcesses {
  ListeningProcesses(processes: [], lineage: [])
}

let descriptorLimit = RLIMIT_NOFILE

/// A clock that stands still while the machine sleeps.
let uptimeClock = CLOCK_UPTIME_RAW
/// The clock of file timestamps.
let fileClock = CLOCK_REALTIME

/// The arguments of this process as bytes, the name of the program first.
package func processArguments() -> [[UInt8]] {
  let words = UnsafeBufferPointer(start: _NSGetArgv().pointee, count: Int(_NSGetArgc().pointee))
  return words.map { $0.map { Path(cString: $0).bytes } ?? [] }
}

extension ProcessGroup {
  /// Whether there is a member. Here the process with ID 1 reaps all orphans, so zombies do not stay.
  package var hasLivingMember: Bool { !isEmpty }

  /// A living member, preferably one that accepts no signals from this process. Not known here.
  package var survivor: Survivor? { nil }
}

extension FileTime {
  /// The earliest timestamp of a file that counts as changed after this process was started. Here that is
  /// the present: changes while the program was loaded are not recognised.
  package static func processStart() -> FileTime {
    .now()
  }
}

/// Opens a descriptor that becomes readable when the last reader of a pipe, or the peer of a socket, has closed it.
/// Not available here, where a write notices it.
package func openReaderHangUp(of descriptor: Int32) throws(SystemError) -> Descriptor {
  throw SystemError(call: "kqueue", code: ENOTSUP)
}

/// The mount points that this process sees.
package func mountPoints() -> [Path] {
  var table: UnsafeMutablePointer<statfs>?
  let count = getmntinfo(&table, MNT_NOWAIT)
  guard let table, count > 0 else { return [] }
  return (0..<Int(count)).map { index in
    withUnsafeBytes(of: &table[index].f_mntonname) { Path(bytes: Array($0.prefix { $0 != 0 })) }
  }
}

/// The name of the file system on which an existing path lies, such as `apfs`.
package func fileSystemName(at path: Path) -> String? { fileSystem(of: path)?.name }

/// The name of the kind of file system of a path, such as `nfs`, if other machines make changes there that the
/// kernel does not report; `nil` for all others.
package func eventlessFileSystem(of path: Path) -> String? {
  guard let (name, isLocal) = fileSystem(of: path), !isLocal else { return nil }
  return name
}

private func fileSystem(of path: Path) -> (name: String, isLocal: Bool)? {
  var found = statfs()
  guard path.withCString({ statfs($0, &found) }) == 0 else { return nil }
  let name = withUnsafeBytes(of: &found.f_fstypename) { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
  return (name, found.f_flags & UInt32(MNT_LOCAL) != 0)
}

#endif  // canImport(Darwin)
