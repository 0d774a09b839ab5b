import Dispatch
import Support
import SystemCalls

/// The sockets of the kernel. They share one kernel event queue, which is a single Dispatch source:
/// connections need no threads, sources or timers of their own.
final class KernelNetwork: Network, @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only.

  /// One kernel queue for the events of all sockets. It is readable while there are any.
  fileprivate let poller: Descriptor
  private let queue: DispatchQueue
  private var source: (any DispatchSourceRead)?
  private var handler: ((SocketEvent) -> Void)?

  init(queue: DispatchQueue) throws(SystemError) {
    self.queue = queue
    poller = Descriptor(owning: try checked("poller") { csystem_poller_open() })
  }

  func start(_ handler: @escaping (SocketEvent) -> Void) {
    self.handler = handler
    let source = DispatchSource.makeReadSource(fileDescriptor: poller.number, queue: queue)
    // The handlers retain the network, and so the descriptor, until the source is cancelled.
    source.setEventHandler { @Sendable [self] in readEvents() }
    source.setCancelHandler { @Sendable [self] in self.source = nil }
    self.source = source
    source.activate()
  }

  func stop() {
    dispatchPrecondition(condition: .onQueue(queue))
    handler = nil
    source?.cancel()
  }

  private func readEvents() {
    let events = [csystem_socket_event](unsafeUninitializedCapacity: 64) { events, count in
      let poller = poller.number
      count = Int(
        max(0, retryingOnInterrupt { csystem_poller_read(poller, events.baseAddress, 64) }))
    }
    for event in events {
      handler?(
        SocketEvent(
          token: event.token, isReadable: event.is_readable != 0,
          isWritable: event.is_writable != 0))
    }
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  func listen(at address: String, port: UInt16) throws(SystemError) -> any ListeningSocket {
    KernelListener(try Socket.listen(at: address, port: port), self)
  }

  func resolve(_ host: String, _ completion: @escaping ([String]) -> Void) {
    // Only another name must be looked up, which may take long.
    if let address = HostAddress(host: host), address.isAddress || address.isLoopback {
      return completion(addressesToTry(of: host))
    }
    perform({ addressesToTry(of: host) }, completion)
  }

  /// Does what may take long on a queue of its own, and calls `completion` with the result, unless the network has
  /// stopped.
  private func perform<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result, _ completion: @escaping (Result) -> Void
  ) {
    // It is called on the queue, as all else.
    nonisolated(unsafe) let completion = completion
    DispatchQueue.separate(qos: .userInitiated).async { @Sendable [self] in
      let result = work()
      queue.async { @Sendable [self] in if handler != nil { completion(result) } }
    }
  }

  func connect(to address: String, port: UInt16) -> (any StreamSocket)? {
    guard let number = try? Socket.connect(to: address, port: port).release() else { return nil }
    return KernelSocket(Descriptor(owning: number), self)
  }

  func findProcesses(
    listeningAt port: UInt16, after former: ListeningProcesses?,
    _ completion: @escaping (ListeningProcesses) -> Void
  ) {
    perform({ listeningProcesses(atPort: port, after: former) }, completion)
  }

  func returnMemory() {
    csystem_return_free_memory()
  }

  func end(of process: pid_t) throws(SystemError) -> (any EventSocket)? {
    let number = csystem_pidfd_open(process)
    if number >= 0 { return KernelEvents(Descriptor(owning: number), self) }
    if errno == ESRCH { throw SystemError(call: "pidfd_open", code: ESRCH) }
    return nil
  }

}

/// A descriptor whose events the kernel reports to the poller, and which it owns. That of a process is readable once
/// it has ended.
private class KernelEvents: EventSocket {
  private var descriptor: Descriptor?
  fileprivate let network: KernelNetwork

  init(_ descriptor: consuming Descriptor, _ network: KernelNetwork) {
    self.descriptor = consume descriptor
    self.network = network
  }

  /// The descriptor; one that no call accepts once it is closed.
  final var number: Int32 {
    switch descriptor {
    case .some(let descriptor): descriptor.number
    case .none: -1
    }
  }

  final func watch(token: UInt64) throws(SystemError) {
    let (poller, number) = (network.poller.number, number)
    _ = try checked("poller") { csystem_poller_add(poller, number, token) }
  }

  final func close() {
    descriptor = nil
  }
}

/// A connected socket.
private final class KernelSocket: KernelEvents, StreamSocket {
  var error: SystemError? { Socket.error(of: number) }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Sent { Socket.send(bytes, to: number) }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    Socket.receive(into: buffer, from: number)
  }

  func probePeer() { csystem_probe_peer(number) }
  func shutDownWriting() { Socket.shutDownWriting(number) }
}

/// A listening socket.
private final class KernelListener: KernelEvents, ListeningSocket {
  let port: UInt16

  override init(_ descriptor: consuming Descriptor, _ network: KernelNetwork) {
    port = Socket.port(of: descriptor)
    super.init(descriptor, network)
  }

  func accept() throws(SystemError) -> (socket: any StreamSocket, peer: String)? {
    guard let (accepted, peer) = try Socket.accept(from: number) else { return nil }
    return (KernelSocket(Descriptor(owning: accepted), network), peer)
  }
}
