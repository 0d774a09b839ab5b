import Support
import TestSupport

@testable import LiveReload
@testable import SystemCalls

/// Sockets in memory, on the manual clock of a test. Everything happens in `run` and `advance`.
final class MemoryNetwork: Network, @unchecked Sendable {
  // Unchecked, because a test uses it on one thread.

  let scheduler = ManualScheduler()
  private var handler: ((SocketEvent) -> Void)?
  private var listeners: [UInt16: MemoryListener] = [:]

  /// Processes all events that are due.
  func run() {
    scheduler.advance(by: .zero)
  }

  func advance(seconds: Int) {
    run()
    scheduler.advance(by: .seconds(seconds))
  }

  func start(_ handler: @escaping (SocketEvent) -> Void) {
    self.handler = handler
  }

  func stop() {
    handler = nil
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(at: scheduler.now, work)
  }

  func report(_ event: SocketEvent) {
    enqueue { @Sendable [self] in handler?(event) }
  }

  func listen(at address: String, port: UInt16) throws(SystemError) -> any ListeningSocket {
    // A server of a test listens at one address only.
    if address != "127.0.0.1" { throw SystemError(call: "listen", code: EADDRNOTAVAIL) }
    if busy.contains(port) { throw SystemError(call: "listen", code: EADDRINUSE) }
    return listen(port)
  }

  /// The ports at which other programs listen.
  var busy: Set<UInt16> = []

  func listener(at port: UInt16) -> MemoryListener? { listeners[port] }

  /// Listens at a port.
  func listen(_ port: UInt16) -> MemoryListener {
    let listener = MemoryListener(port, self)
    listeners[port] = listener
    return listener
  }

  /// Connects to a port; `nil` if nothing listens there.
  func connect(to port: UInt16) -> MemorySocket? {
    guard let listener = listeners[port], !listener.isClosed else { return nil }
    let (near, far) = (MemorySocket(self), MemorySocket(self))
    (near.peer, far.peer) = (far, near)
    listener.backlog.append(far)
    listener.notify()
    return near
  }

  /// How often free memory was returned.
  private(set) var memoryReturns = 0

  func returnMemory() {
    memoryReturns += 1
  }

  /// The processes that listen.
  var processes: Set<pid_t> = []
  /// The process of the task whose descendants they are.
  var launched: pid_t?
  /// Whether searches for processes end at once.
  var answersSearches = true {
    didSet {
      for search in searches { search() }
      searches = []
    }
  }
  private var searches: [() -> Void] = []
  private var ends: [pid_t: [MemoryProcessEnd]] = [:]

  func findProcesses(
    listeningAt port: UInt16, after former: ListeningProcesses?,
    _ completion: @escaping (ListeningProcesses) -> Void
  ) {
    let search = { [self] in
      let ancestors = launched.map { [$0, processIDs().own] } ?? []
      completion(ListeningProcesses(processes: processes, lineage: processes.union(ancestors)))
    }
    if answersSearches { search() } else { searches.append(search) }
  }

  func end(of process: pid_t) -> (any EventSocket)? {
    let end = MemoryProcessEnd(self)
    ends[process, default: []].append(end)
    return end
  }

  /// Ends the processes that listen, in favour of others.
  func replaceProcesses(by others: Set<pid_t>) {
    let ended = processes.subtracting(others)
    processes = others
    for process in ended.sorted() {
      for end in ends.removeValue(forKey: process) ?? [] { end.happen() }
    }
    run()
  }

  /// The addresses of names.
  var names: [String: [String]] = [:]
  /// The addresses at which nothing answers.
  var silent: Set<String> = []

  func resolve(_ host: String, _ completion: @escaping ([String]) -> Void) {
    completion(names[host] ?? (host == "localhost" ? loopbackAddresses : [host]))
  }

  /// - Parameter host: The server of a test listens at one address, and that of another machine, only.
  func connect(to host: String, port: UInt16) -> (any StreamSocket)? {
    if silent.contains(host) { return MemorySocket(self, isSilent: true) }
    return ["127.0.0.1", "192.0.2.1"].contains(host) ? connect(to: port) : nil
  }
}

/// A process that may end.
final class MemoryProcessEnd: EventSocket {
  private let network: MemoryNetwork
  private var token: UInt64?

  init(_ network: MemoryNetwork) {
    self.network = network
  }

  func watch(token: UInt64) {
    self.token = token
  }

  func happen() {
    guard let token else { return }
    network.report(SocketEvent(token: token, isReadable: true, isWritable: false))
  }

  func close() {
    token = nil
  }
}

/// One end of a connection in memory. A test uses the ends that no loop watches.
final class MemorySocket: StreamSocket {
  /// The most bytes on the way.
  static let capacity = 64 * 1024

  let network: MemoryNetwork
  var peer: MemorySocket?
  private var incoming: [UInt8] = []
  private var token: UInt64?
  private var hasEnded = false
  private(set) var isClosed = false
  private var isBlocked = false

  /// Whether connecting to it never ends.
  private let isSilent: Bool

  init(_ network: MemoryNetwork, isSilent: Bool = false) {
    self.network = network
    self.isSilent = isSilent
  }

  private(set) var error: SystemError?
  /// Whether the system finds out that the peer has gone.
  private var isProbed = false

  func probePeer() {
    isProbed = true
  }

  func watch(token: UInt64) {
    self.token = token
    if isSilent { return }
    notify(isReadable: !incoming.isEmpty, isWritable: true)
  }

  private func notify(isReadable: Bool = false, isWritable: Bool = false) {
    guard let token else { return }
    network.report(SocketEvent(token: token, isReadable: isReadable, isWritable: isWritable))
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Sent {
    guard let peer, !isClosed, !peer.isClosed else { return .failed }
    let count = min(bytes.count, Self.capacity - peer.incoming.count)
    isBlocked = count < bytes.count
    if count == 0 { return .nothing }
    peer.incoming += bytes.prefix(count)
    peer.notify(isReadable: true)
    return .count(count)
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let count = min(buffer.count, incoming.count)
    if count == 0 { return hasEnded ? 0 : nil }
    buffer.copyBytes(from: incoming.prefix(count))
    take(count)
    return count
  }

  private func take(_ count: Int) {
    incoming.removeFirst(count)
    guard let peer, peer.isBlocked, count > 0 else { return }
    peer.isBlocked = false
    peer.notify(isWritable: true)
  }

  func shutDownWriting() {
    peer?.hasEnded = true
    peer?.notify(isReadable: true)
  }

  func close() {
    if isClosed { return }
    isClosed = true
    shutDownWriting()
  }

  // MARK: - For tests

  /// The process has ended some time ago, which a peer that probes finds out.
  func vanish() {
    close()
    guard let peer, peer.isProbed else { return }
    peer.error = SystemError(call: "read", code: EPIPE)
    peer.notify(isReadable: true)
  }

  /// Whether the peer has closed its side.
  var isEnded: Bool { hasEnded }

  /// Sends bytes. Returns whether the peer takes all of them.
  func send(_ bytes: [UInt8]) -> Bool {
    if case .count(bytes.count) = bytes.withUnsafeBytes({ send($0) }) { true } else { false }
  }

  /// Sends text, and processes what follows from it.
  func send(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { send($0) }
    network.run()
  }

  /// The text that has arrived, after processing all events.
  func receive(atMost count: Int = .max) -> String {
    String(decoding: receiveBytes(atMost: count), as: UTF8.self)
  }

  /// The bytes that have arrived, after processing all events.
  func receiveBytes(atMost count: Int = .max) -> [UInt8] {
    network.run()
    let bytes = Array(incoming.prefix(count))
    take(bytes.count)
    return bytes
  }

  /// Receives until nothing more arrives.
  func receiveAll() -> String {
    var text = ""
    while true {
      let part = receive()
      if part.isEmpty { return text }
      text += part
    }
  }
}

/// A listening socket in memory.
final class MemoryListener: ListeningSocket {
  let port: UInt16
  private let network: MemoryNetwork
  private var token: UInt64?
  private(set) var isClosed = false
  fileprivate(set) var backlog: [MemorySocket] = []
  /// The address of the peers.
  var peer = "127.0.0.1"
  /// The errors of the next calls of `accept`.
  var failures: [SystemError] = []

  init(_ port: UInt16, _ network: MemoryNetwork) {
    self.port = port
    self.network = network
  }

  func watch(token: UInt64) {
    self.token = token
  }

  fileprivate func notify() {
    guard let token else { return }
    network.report(SocketEvent(token: token, isReadable: true, isWritable: false))
  }

  func accept() throws(SystemError) -> (socket: any StreamSocket, peer: String)? {
    if !failures.isEmpty { throw failures.removeFirst() }
    return backlog.isEmpty ? nil : (backlog.removeFirst(), peer)
  }

  func close() {
    isClosed = true
  }

  /// The next connection, after processing all events.
  func next() -> MemorySocket? {
    network.run()
    return backlog.isEmpty ? nil : backlog.removeFirst()
  }
}

/// A page of a server in memory.
final class MemoryPages {
  let network = MemoryNetwork()
  let core: ServerCore
  let reports = Log<PageServer.Report>()

  init(mostConnections: Int = 100) {
    let reports = reports
    core = ServerCore(
      directory: "/", loop: SocketLoop(network, network.scheduler),
      mostConnections: mostConnections, report: { reports.note($0) },
      openEditor: { _, _, _ in nil })
  }

  /// Connects to the page at port 80, which passes requests on to port 3000.
  static func proxy(
    mostConnections: Int = 100, dependencies: Set<String> = []
  ) throws -> (pages: MemoryPages, server: MemoryListener, client: MemorySocket) {
    let pages = MemoryPages(mostConnections: mostConnections)
    let server = pages.network.listen(3000)
    try pages.core.open(
      Page(
        name: "page", source: .upstream(ServerAddress(host: "127.0.0.1", port: 3000)), port: 80,
        dependencies: dependencies))
    return (pages, server, try pages.connect())
  }

  /// A connection of a client.
  func connect() throws -> MemorySocket {
    guard let socket = network.connect(to: 80) else {
      throw SystemError(call: "connect", code: ECONNREFUSED)
    }
    return socket
  }
}
