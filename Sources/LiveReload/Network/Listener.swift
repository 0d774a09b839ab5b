import SystemCalls

/// A listening socket, confined to the loop's queue.
final class Listener: SocketHandler {
  typealias Accept = (_ stream: ByteStream, _ peer: String) -> Void

  private static let firstPort: UInt16 = 8080
  private static let lastPort: UInt16 = 8179

  private let loop: SocketLoop
  private let accept: Accept
  private var socket: Descriptor?
  private var token: UInt64 = 0
  let port: UInt16

  private init(
    _ socket: consuming Descriptor, on loop: SocketLoop, _ accept: @escaping Accept
  ) throws(SystemError) {
    self.loop = loop
    self.accept = accept
    port = Socket.port(of: socket)
    let number = socket.number
    self.socket = consume socket
    token = try loop.add(self, for: number)
  }

  /// Opens the listeners of a page: at the loopback addresses, and at those of its hosts.
  static func open(
    _ page: Page, on loop: SocketLoop, _ accept: @escaping Accept
  ) throws(PageError) -> (listeners: [Listener], port: UInt16) {
    if let port = page.port {
      do throws(SystemError) {
        return (try listen(page.hosts, port, on: loop, accept), port)
      } catch {
        throw .cannotListen(page.name, port: port, error)
      }
    }
    var port = firstPort
    while true {
      do throws(SystemError) {
        let listeners = try listen(page.hosts, port, on: loop, accept)
        return (listeners, port)
      } catch {
        guard error.code == EADDRINUSE, port < lastPort else {
          throw .cannotListen(page.name, port: port, error)
        }
        port += 1
      }
    }
  }

  private static func listen(
    _ hosts: [String], _ port: UInt16, on loop: SocketLoop, _ accept: @escaping Accept
  ) throws(SystemError) -> [Listener] {
    var listeners: [Listener] = []
    do throws(SystemError) {
      for address in addresses(for: hosts) {
        do throws(SystemError) {
          let socket = try Socket.listen(at: address, port: port)
          listeners.append(try Listener(socket, on: loop, accept))
        } catch {
          // The machine may not support IPv6.
          let isOptional = address == "::1" || address == "::"
          if isOptional && (error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT) { continue }
          throw error
        }
      }
    } catch {
      for listener in listeners { listener.close() }
      throw error
    }
    return listeners
  }

  /// The addresses at which to listen for hosts. A name may resolve to any address of this machine,
  /// so it needs all of them, unless it means the loopback addresses.
  static func addresses(for hosts: [String]) -> [String] {
    var addresses = ["127.0.0.1", "::1"]
    var known = Set(addresses.map(HostAddress.init(host:)))
    for host in hosts {
      let address = HostAddress(host: host)
      if let address, address.isUnspecified || !address.isAddress && !address.isLoopback {
        return ["0.0.0.0", "::"]
      }
      // An invalid host fails later, with a message.
      if address?.isAddress != false, known.insert(address).inserted { addresses.append(host) }
    }
    return addresses
  }

  /// The URLs of a page for other machines.
  static func urls(for hosts: [String], port: UInt16) -> [String] {
    let isAll = hosts.contains { $0 == "0.0.0.0" || $0 == "::" }
    let names = hosts.filter { $0 != "0.0.0.0" && $0 != "::" }
    return (names + (isAll ? Socket.interfaceAddresses() : [])).map { name in
      let host = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
      return "http://\(host):\(port)/"
    }
  }

  func socketChanged(isReadable: Bool, isWritable: Bool) {
    acceptAll()
  }

  func takeTurn() {
    acceptAll()
  }

  func deadlinePassed() {
    acceptAll()
  }

  private func acceptAll() {
    for _ in 0..<64 {
      guard let socket = socket.borrowedNumber else { return }
      do throws(SystemError) {
        guard let (number, peer) = try Socket.accept(from: socket) else { return }
        guard let stream = try? ByteStream(Descriptor(owning: number), on: loop) else { continue }
        accept(stream, peer)
      } catch {
        // Out of descriptors: pending connections are accepted once others are closed.
        return loop.wake(token, after: 1)
      }
    }
    loop.giveTurn(to: token)
  }

  func close() {
    guard socket != nil else { return }
    loop.remove(token)
    socket = nil
  }
}
