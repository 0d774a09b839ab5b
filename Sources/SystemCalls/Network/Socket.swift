/// TCP sockets that do not block.
package enum Socket {
  /// Listens at a numeric address.
  ///
  /// - Parameter port: 0 for any free one.
  package static func listen(
    at address: String, port: UInt16
  ) throws(SystemError) -> Descriptor {
    let number = try checked("listen", path: Path(address)) { csystem_listen(address, port) }
    return Descriptor(owning: number)
  }

  /// The port to which a socket is bound.
  package static func port(of socket: borrowing Descriptor) -> UInt16 {
    UInt16(clamping: csystem_socket_port(socket.number))
  }

  /// The numeric IPv4 addresses of this machine but the loopback ones.
  package static func interfaceAddresses() -> [String] {
    var addresses: [String] = []
    var text = [CChar](repeating: 0, count: 64)
    while csystem_interface_address(Int32(addresses.count), &text, text.count) == 0 {
      addresses.append(Path(cString: text).description)
    }
    return addresses
  }

  /// The next connection with the peer's numeric address; `nil` if there is none.
  ///
  /// - Throws: ECONNABORTED if the connection was given up before it was accepted. Others may follow it.
  package static func accept(
    from listener: Int32
  ) throws(SystemError) -> (socket: Int32, peer: String)? {
    var name = [CChar](repeating: 0, count: 64)
    let number = retryingOnInterrupt { csystem_accept(listener, &name, name.count) }
    if number == -1 {
      if errno == EAGAIN { return nil }
      throw .last("accept")
    }
    return (number, Path(cString: name).description)
  }

  /// Begins to connect to a numeric address. The socket is writable once the attempt has ended.
  package static func connect(to host: String, port: UInt16) throws(SystemError) -> Descriptor {
    let number = try checked("connect", path: Path(host)) { csystem_connect(host, port) }
    var isAtOnce: Int32 = 1
    setsockopt(
      number, Int32(IPPROTO_TCP), TCP_NODELAY, &isAtOnce, socklen_t(MemoryLayout<Int32>.size))
    return Descriptor(owning: number)
  }

  /// The pending error of a socket, such as that of a connection attempt; `nil` for none.
  package static func error(of socket: Int32) -> SystemError? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    if getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size) == -1 { code = errno }
    return code == 0 ? nil : SystemError(call: "connect", code: code)
  }

  /// Why no process can listen at a port here, from the error of an attempt.
  package static func problem(listeningAt port: UInt16, _ error: SystemError) -> String {
    switch error.code {
    case EADDRINUSE:
      let holder = listener(atPort: port).map { " by \($0.name) (pid \($0.process))" }
      return "port \(port) is in use" + (holder ?? "")
    case EACCES: return "port \(port) requires administrator rights"
    case EADDRNOTAVAIL:
      return "\(error.path?.description ?? "the host") is not an address of this machine"
    default: return "\(error)"
    }
  }

  /// The outcome of an attempt to send.
  package enum Sent: Sendable {
    case count(Int)
    /// The kernel takes no more for now.
    case nothing
    case failed
  }

  package static func send(
    _ bytes: UnsafeRawBufferPointer, to socket: Int32
  ) -> Sent {
    let result = retryingOnInterrupt { csystem_send(socket, bytes.baseAddress, bytes.count) }
    if result >= 0 { return .count(result) }
    return errno == EAGAIN ? .nothing : .failed
  }

  /// Ends our side of the connection; the peer can still send.
  package static func shutDownWriting(_ socket: Int32) {
    _ = shutdown(socket, Int32(SHUT_WR))
  }

  /// Reads available bytes into the memory: the count of bytes, 0 at the end of the connection, -1 after
  /// an error, `nil` if there is nothing for now.
  package static func receive(
    into buffer: UnsafeMutableRawBufferPointer, from socket: Int32
  ) -> Int? {
    let count = retryingOnInterrupt { read(socket, buffer.baseAddress, buffer.count) }
    return count < 0 && errno == EAGAIN ? nil : count
  }
}
