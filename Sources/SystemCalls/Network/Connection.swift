/// A TCP connection for one short request. The time limit holds for the connection and all that is sent
/// and received.
package struct Connection: ~Copyable {
  private let socket: Descriptor
  private let deadline: Instant
  private var encryption: TLSLibrary.Session?

  /// Connects to a numeric address, `localhost` or a host name.
  ///
  /// Attempts all addresses in turn. The error is that of the last one.
  package init(to host: String, port: UInt16, within limit: Duration) throws(SystemError) {
    deadline = .now + limit
    var failure = SystemError(call: "getaddrinfo", code: EHOSTUNREACH, path: Path(host))
    for number in addressesToTry(of: host) {
      do throws(SystemError) {
        socket = try Self.connect(number, port, until: deadline)
        return
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private static func connect(
    _ host: String, _ port: UInt16, until deadline: Instant
  ) throws(SystemError) -> Descriptor {
    let socket = try Socket.connect(to: host, port: port)
    try wait(for: socket.number, toWrite: true, until: deadline)
    if let error = Socket.error(of: socket.number) {
      throw SystemError(call: "connect", code: error.code, path: Path(host))
    }
    return socket
  }

  private static func wait(
    for descriptor: Int32, toWrite: Bool = false, until deadline: Instant
  ) throws(SystemError) {
    let rest = deadline - .now
    if try !LocalSocket.wait(for: descriptor, toWrite: toWrite, atMost: rest) {
      throw SystemError(call: "poll", code: ETIMEDOUT)
    }
  }

  /// Whether connections can be encrypted here, which takes OpenSSL.
  package static var canEncrypt: Bool { TLSLibrary.shared != nil }

  /// Encrypts what is sent and received from now on. The certificate of the server is not verified.
  package mutating func encrypt(for host: String) throws(SystemError) {
    guard let session = TLSLibrary.shared?.session(on: socket.number, host: host) else {
      throw SystemError(call: "dlopen", code: ENOSYS, path: Path(TLSLibrary.file))
    }
    _ = try perform { session.handshake() }
    encryption = session
  }

  /// Repeats a step of the encryption until the socket has let it finish. Returns its result; `nil` for an end.
  private borrowing func perform(
    _ step: () -> TLSLibrary.Step
  ) throws(SystemError) -> Int? {
    while true {
      switch step() {
      case .done(let count): return count
      case .ended: return nil
      case .needsInput: try Self.wait(for: socket.number, until: deadline)
      case .needsOutput: try Self.wait(for: socket.number, toWrite: true, until: deadline)
      case .failed: throw SystemError(call: "SSL", code: EPROTO)
      }
    }
  }

  package borrowing func send(_ bytes: [UInt8]) throws(SystemError) {
    guard let encryption else {
      return try LocalSocket.send(bytes, to: socket.number, until: deadline)
    }
    _ = try perform { encryption.write(bytes) }
  }

  /// Receives bytes, at most `limit`; none after the peer has closed the connection.
  package borrowing func receive(atMost limit: Int) throws(SystemError) -> [UInt8] {
    if let encryption {
      var bytes = [UInt8](repeating: 0, count: limit)
      let count = try perform { encryption.read(&bytes) } ?? 0
      return Array(bytes.prefix(count))
    }
    while true {
      try Self.wait(for: socket.number, until: deadline)
      switch readAvailable(socket.number, atMost: limit) {
      case .bytes(let bytes): return bytes
      case .end: return []
      case .nothing: continue
      }
    }
  }
}
