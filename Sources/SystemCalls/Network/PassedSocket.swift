/// A listening TCP socket that this process holds and passes to one process after the other, so that connections wait
/// while none of them runs: the protocol of `sd_listen_fds(3)`. It is closed with the last reference.
package final class PassedSocket: Sendable, HashableByIdentity {
  /// The number of the descriptor in a process that receives it.
  package static let descriptor = CSYSTEM_FIRST_SOCKET
  private static let backlog: Int32 = 511
  private static let timeout = Duration.milliseconds(250)

  /// The number here, for a call that borrows it.
  package let number: Int32
  /// The numeric address.
  package let host: String
  package let port: UInt16

  /// Listens at a numeric address. At 127.0.0.1, no other process may listen at ::1 either: `localhost` means both.
  package init(at host: String, port: UInt16) throws(SystemError) {
    (self.host, self.port) = (host, port)
    number = try Socket.listen(at: host, port: port).release()
    if host != loopbackAddresses[0] { return }
    do throws(SystemError) {
      _ = try Socket.listen(at: loopbackAddresses[1], port: port)
    } catch {
      if error.code == EADDRINUSE { throw error }
    }
  }

  deinit {
    close(number)
  }

  /// Makes the socket as a program expects it, which listens and blocks. The one before may have changed that.
  func prepare() {
    _ = fcntl(number, F_SETFL, 0)
    _ = listen(number, Self.backlog)
  }

  /// Connects, and ends the connection: a server that accepts it reads its end. Blocks for up to 250 ms.
  package func connect() throws(SystemError) {
    _ = try Connection(to: host, port: port, within: Self.timeout)
  }

  /// Whether a connection waits to be accepted.
  package var hasWaiting: Bool {
    (try? LocalSocket.wait(for: number, atMost: .zero)) != false
  }
}
