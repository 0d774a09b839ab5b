/// One kernel queue for the events of many sockets. Its descriptor is readable while there are any.
package struct SocketPoller: ~Copyable {
  private let queue: Descriptor

  package init() throws(SystemError) {
    queue = Descriptor(owning: try checked("poller") { csystem_poller_open() })
  }

  /// The number, for a Dispatch source. It is closed with the poller.
  package var number: Int32 { queue.number }

  /// Adds a socket. Its events carry the token; each is reported once, until more can be read or written.
  /// Closing the socket removes it.
  package borrowing func add(_ socket: Int32, token: UInt64) throws(SystemError) {
    let number = queue.number
    _ = try checked("poller") { csystem_poller_add(number, socket, token) }
  }

  /// Reads events without waiting, at most 64.
  package borrowing func readEvents() -> [csystem_socket_event] {
    let number = queue.number
    return [csystem_socket_event](unsafeUninitializedCapacity: 64) { events, count in
      let found = retryingOnInterrupt { csystem_poller_read(number, events.baseAddress, 64) }
      count = Int(max(0, found))
    }
  }
}
