import Support
import SystemCalls

/// The directory of the sockets at which the sessions of this user listen.
///
/// It is `$XDG_RUNTIME_DIR/watchrun`, or `/tmp/watchrun-UID` where that does not exist. A socket has the name
/// `DIGEST-PROCESS`: the digest of the session's directory, whose path may be too long for an address, and its
/// process ID.
struct SessionDirectory: Hashable {
  /// So many bytes are left for the name of a socket.
  private static let longestPath = LocalSocket.longestPath - 50

  let path: Path

  /// The directories of this user, the preferred one first. A session without `$XDG_RUNTIME_DIR` is found by a
  /// client with it, and the other way round.
  static func candidates(
    runtime: String? = environmentVariable("XDG_RUNTIME_DIR"), user: UInt32 = currentUser()
  ) -> [SessionDirectory] {
    var paths = [Path("/run/user/\(user)"), Path(runtime ?? "")].map { $0.appending("watchrun") }
    if runtime != nil { paths.swapAt(0, 1) }
    paths.append(Path("/tmp/watchrun-\(user)"))
    var known: Set<Path> = []
    return paths.filter {
      $0.isAbsolute && $0.bytes.count <= longestPath && known.insert($0).inserted
    }.map(SessionDirectory.init)
  }

  /// The first directory that exists or can be created, and to which only this user has access.
  static func make(
    among candidates: [SessionDirectory] = candidates()
  ) throws(SessionError) -> SessionDirectory {
    var failure = SessionError.noDirectory("/tmp", "it cannot be used")
    for candidate in candidates {
      do throws(PrivateDirectory.Flaw) {
        try PrivateDirectory.make(candidate.path)
        return candidate
      } catch {
        failure = .noDirectory(candidate.path, error.reason)
      }
    }
    throw failure
  }

  // MARK: - Names

  /// The beginning of the names of the sockets of a directory's sessions.
  static func prefix(of directory: Path) -> [UInt8] {
    let digest = directory.bytes.withUnsafeBytes { ContentDigest(of: $0) }
    return "\(digest.text)-".word
  }

  /// The process ID in the name of a socket.
  static func process(of name: Path) -> Int32? {
    let parts = name.bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 32 else { return nil }
    return Int32(String(decoding: parts[1], as: UTF8.self))
  }

  /// The sockets in this directory, if only this user has access to it.
  private var names: [Path] {
    get throws(PrivateDirectory.Flaw) {
      try PrivateDirectory.check(path)
      return ((try? directoryNames(of: path)) ?? []).filter { Self.process(of: $0) != nil }
    }
  }

  // MARK: - Sockets

  /// Listens for a session of the directory. Its socket appears only once it can be connected to.
  func listen(
    for directory: Path, process: Int32 = processIDs().own
  ) throws(SessionError) -> (listener: Int32, socket: Path) {
    for name in (try? names) ?? [] where Self.process(of: name).map(processExists) == false {
      // It is removed, unless /tmp is shared with a container, in which process IDs are others.
      _ = SessionClient.isServed(path.appending(name.bytes))
    }
    let new = path.appending("new-\(process)")
    let socket = path.appending(Self.prefix(of: directory) + "\(process)".utf8)
    do throws(SystemError) {
      // Left over by a process that was killed and had the same ID.
      removeFile(new)
      let listener = try LocalSocket.listen(at: new)
      try renameFile(new, to: socket)
      return (listener.release(), socket)
    } catch {
      removeFile(new)
      throw .noDirectory(path, error.reason)
    }
  }

  /// The sockets of a directory's sessions, oldest process first.
  func sockets(of directory: Path) throws(PrivateDirectory.Flaw) -> [Path] {
    let prefix = Self.prefix(of: directory)
    return try names.filter { $0.bytes.starts(with: prefix) }
      .sorted { (Self.process(of: $0) ?? 0) < (Self.process(of: $1) ?? 0) }
      .map { path.appending($0.bytes) }
  }
}

/// Why a session cannot be served or asked.
public enum SessionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No session runs in the directory or in one of its ancestors.
  case noSession(Path)
  /// The directory of sockets cannot be used, for this reason.
  case noDirectory(Path, String)
  /// The session has ended, or has sent something else than an answer.
  case lost(String)
  /// The session does not answer.
  case noAnswer
  /// The session refuses the request, for this reason.
  case refused(String)

  /// The error in one line.
  public var description: String {
    switch self {
    case .noSession(let directory):
      "no session of watchrun in \(directory) or above it; start one there, or choose another directory with -C"
    case .noDirectory(let path, let reason):
      "cannot use \(path) for sockets: \(reason); set XDG_RUNTIME_DIR to a directory of your own"
    case .noAnswer: "the session does not answer; is it suspended?"
    case .lost(let reason), .refused(let reason): reason
    }
  }
}

extension PrivateDirectory.Flaw {
  var reason: String {
    switch self {
    case .missing: "it does not exist"
    case .untrusted: "it must be a directory of this user that no other user can enter (mode 700)"
    case .unavailable(let error): error.reason
    }
  }
}
