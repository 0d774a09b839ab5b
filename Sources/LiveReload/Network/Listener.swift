import Support
import SystemCalls

/// A listening socket, confined to the loop's queue.
final class Listener: SocketHandler {
  private static let firstPort: UInt16 = 8080
  private static let lastPort: UInt16 = 9079

  private let loop: SocketLoop
  private weak var site: PageSite?
  private let socket: any ListeningSocket
  private var isClosed = false
  private var token: UInt64 = 0
  private var retry: SocketLoop.Call?

  private init(_ socket: any ListeningSocket, for site: PageSite) throws(SystemError) {
    loop = site.core.loop
    self.site = site
    self.socket = socket
    token = try loop.add(self, for: socket)
  }

  /// Opens the listeners of a page: at the loopback addresses, and at those of its hosts.
  ///
  /// - Parameter former: The port at which to listen, if it is free and the page has none of its own.
  static func open(
    for site: PageSite, preferring former: UInt16?
  ) throws(PageError) -> (listeners: [Listener], port: UInt16) {
    let page = site.page
    var ports = [page.port ?? former].compactMap(\.self)
    if page.port == nil { ports += firstPort...lastPort }
    while true {
      let port = ports.removeFirst()
      do throws(SystemError) {
        return (try listen(at: port, for: site), port)
      } catch {
        if error.code != EADDRINUSE || ports.isEmpty {
          throw .cannotListen(page.name, port: port, error)
        }
      }
    }
  }

  private static func listen(
    at port: UInt16, for site: PageSite
  ) throws(SystemError) -> [Listener] {
    var listeners: [Listener] = []
    for address in addresses(for: site.page.hosts) {
      do throws(SystemError) {
        let socket = try site.core.loop.network.listen(at: address, port: port)
        listeners.append(try Listener(socket, for: site))
      } catch {
        // The machine may not support IPv6.
        let isOptional = address == "::1" || address == "::"
        if isOptional && (error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT) { continue }
        for listener in listeners { listener.close() }
        throw error
      }
    }
    return listeners
  }

  /// The addresses at which to listen for hosts. A name may resolve to any address of this machine,
  /// so it needs all of them, unless it means the loopback addresses.
  static func addresses(for hosts: [String]) -> [String] {
    var addresses = loopbackAddresses
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
      "http://\(bracketed(name)):\(port)/"
    }
  }

  func socketChanged(isReadable: Bool, isWritable: Bool) {
    acceptAll()
  }

  func takeTurn() {
    acceptAll()
  }

  private func acceptAll() {
    for _ in 0..<64 {
      if isClosed { return }
      do throws(SystemError) {
        guard let (socket, peer) = try socket.accept() else { return }
        guard let stream = try? ByteStream(socket, on: loop) else {
          socket.close()
          continue
        }
        site?.serve(stream, from: peer)
      } catch {
        // A connection that was given up before it was accepted.
        if error.code == ECONNABORTED { continue }
        if error.isOutOfResources, site?.core.closeIdleConnection() == true { continue }
        // Pending connections are accepted once others are closed.
        retry = loop.call(after: .seconds(1)) { [weak self] in self?.acceptAll() }
        return
      }
    }
    loop.giveTurn(to: token)
  }

  func close() {
    if isClosed { return }
    isClosed = true
    loop.cancelCall(&retry)
    loop.remove(token)
    socket.close()
  }
}
