import SystemCalls

/// The sockets of an event loop: those of the kernel, or ones in memory for tests. All methods are
/// called on the loop's queue.
protocol Network: AnyObject, Sendable {
  /// Calls `handler` for each event of the sockets, until `stop`.
  func start(_ handler: @escaping (SocketEvent) -> Void)
  func stop()
  /// Does `work` on the loop's queue, after the events that are already due.
  func enqueue(_ work: @escaping @Sendable () -> Void)
  /// Listens at a numeric address.
  func listen(at address: String, port: UInt16) throws(SystemError) -> any ListeningSocket
  /// Finds the numeric addresses of a host, in the order in which to try them. Calls `completion` at once or later.
  func resolve(_ host: String, _ completion: @escaping ([String]) -> Void)
  /// Begins to connect to a numeric address. The socket is writable once the attempt has ended; `nil` if it has
  /// failed already.
  func connect(to address: String, port: UInt16) -> (any StreamSocket)?
  /// Finds the processes that listen at a port of this machine, which may take some time.
  ///
  /// - Parameter former: What was found before, which makes it faster.
  func findProcesses(
    listeningAt port: UInt16, after former: ListeningProcesses?,
    _ completion: @escaping (ListeningProcesses) -> Void)
  func returnMemory()
  /// What becomes readable when a process has ended; `nil` if the system has no such thing.
  func end(of process: pid_t) throws(SystemError) -> (any EventSocket)?
}

/// A change of the state of a socket. Each is reported once.
struct SocketEvent: Sendable {
  /// The token with which the socket is watched.
  var token: UInt64
  var isReadable: Bool
  var isWritable: Bool
}

/// A socket that does not block.
protocol EventSocket: AnyObject {
  /// Reports the events of the socket with this token, until it is closed.
  func watch(token: UInt64) throws(SystemError)
  func close()
}

/// A connected socket.
protocol StreamSocket: EventSocket {
  /// The pending error, such as that of a connection attempt, or of a peer that has gone after it has ended its side;
  /// `nil` for none.
  var error: SystemError? { get }
  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Sent
  /// Reads available bytes: their count, 0 at the end, -1 after an error, `nil` if there is nothing for now.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int?
  /// Finds out from time to time whether a peer that has ended its side is still there.
  func probePeer()
  /// Ends our side of the connection; the peer can still send.
  func shutDownWriting()
}

/// A socket that accepts connections.
protocol ListeningSocket: EventSocket {
  var port: UInt16 { get }
  /// The next connection, with the peer's numeric address; `nil` if there is none.
  func accept() throws(SystemError) -> (socket: any StreamSocket, peer: String)?
}
