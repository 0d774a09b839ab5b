/// Unix sockets that do not block, for processes of one user.
package enum LocalSocket {
  /// The longest path of a socket, on every system.
  package static let longestPath = 103

  /// Listens at a new socket file, to which only this user may connect.
  package static func listen(at path: Path) throws(SystemError) -> Descriptor {
    Descriptor(
      owning: try checked("bind", path: path) { path.withCString { csystem_local_listen($0) } })
  }

  /// Connects to a socket of a process of this user.
  ///
  /// - Throws: EAGAIN if too many connections wait to be accepted, ECONNREFUSED if nothing listens, and EPERM
  ///   if the process belongs to another user.
  package static func connect(to path: Path) throws(SystemError) -> Descriptor {
    let socket = Descriptor(
      owning: try checked("connect", path: path) { path.withCString { csystem_local_connect($0) } })
    if !isOfThisUser(socket.number) {
      throw SystemError(call: "connect", code: EPERM, path: path)
    }
    return socket
  }

  /// The next connection of a process of this user; `nil` if there is none. Others are closed.
  package static func accept(from listener: Int32) throws(SystemError) -> Int32? {
    while true {
      let number = retryingOnInterrupt { csystem_local_accept(listener) }
      if number == -1 {
        if errno == EAGAIN { return nil }
        if errno == ECONNABORTED { continue }
        throw .last("accept")
      }
      if isOfThisUser(number) { return number }
      _ = Descriptor(owning: number)
    }
  }

  private static func isOfThisUser(_ socket: Int32) -> Bool {
    var user = uid_t()
    return csystem_local_peer(socket, &user) == 0 && user == geteuid()
  }

  /// Sends all bytes. A peer that has gone is an error, and no SIGPIPE.
  package static func send(
    _ bytes: [UInt8], to socket: Int32, until deadline: Instant
  ) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ Socket.send($0, to: socket) }) {
      case .count(let count): rest = rest.dropFirst(count)
      case .nothing:
        let time = max(.zero, deadline - .now)
        guard try wait(for: socket, toWrite: true, atMost: time) else {
          throw SystemError(call: "send", code: ETIMEDOUT)
        }
      case .failed: throw .last("send")
      }
    }
  }

  /// Waits until any of the descriptors can be read, and returns those.
  package static func readable(among descriptors: [Int32]) -> [Int32] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = retryingOnInterrupt { poll(&entries, nfds_t(entries.count), -1) }
    return entries.filter { $0.revents != 0 }.map(\.fd)
  }

  /// Waits until bytes can be read from, or written to, a descriptor. Returns false if the time is over.
  ///
  /// - Parameter time: `nil` waits without a limit.
  package static func wait(
    for descriptor: Int32, toWrite: Bool = false, atMost time: Duration?
  ) throws(SystemError) -> Bool {
    var entry = pollfd(
      fd: descriptor, events: Int16(toWrite ? POLLOUT : POLLIN), revents: 0)
    let limit = time.map { max(0, ($0 / .milliseconds(1)).rounded(.up)) }
    let count = try checked("poll") { poll(&entry, 1, limit.map { Int32(min($0, 1e9)) } ?? -1) }
    return count > 0
  }
}

/// A directory that must belong to this user, and to which no other user has access.
package enum PrivateDirectory {
  package enum Flaw: Error, Hashable, Sendable {
    case missing
    /// It is a file, a symbolic link, another user's, or others may enter it.
    case untrusted
    case unavailable(SystemError)
  }

  /// Checks type, owner and permissions.
  package static func check(_ path: Path) throws(Flaw) {
    var status = stat()
    if path.withCString({ lstat($0, &status) }) == -1 {
      throw errno == ENOENT || errno == ENOTDIR
        ? .missing : .unavailable(.last("lstat", path: path))
    }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else { throw .untrusted }
  }

  /// Creates the directory, if it does not exist, and checks it. Its parent must exist.
  package static func make(_ path: Path) throws(Flaw) {
    if path.withCString({ mkdir($0, 0o700) }) == -1 && errno != EEXIST {
      throw .unavailable(.last("mkdir", path: path))
    }
    try check(path)
  }
}

/// Renames a file, replacing one of that name.
package func renameFile(_ path: Path, to other: Path) throws(SystemError) {
  _ = try checked("rename", path: other) {
    path.withCString { old in other.withCString { rename(old, $0) } }
  }
}

/// Whether a process of this ID exists.
package func processExists(_ process: pid_t) -> Bool {
  kill(process, 0) == 0 || errno != ESRCH
}

/// The user of this process.
package func currentUser() -> UInt32 { geteuid() }

/// The IDs of this process and of its parent.
package func processIDs() -> (own: Int32, parent: Int32) { (getpid(), getppid()) }
