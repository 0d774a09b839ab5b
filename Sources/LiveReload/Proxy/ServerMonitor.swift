import SystemCalls

/// Notices that another process serves what is behind a page: when one that listens there ends, and
/// when looks after a save find another one. Confined to the loop's queue.
///
/// Servers that reload themselves end the process that answers, run another program in it, or close
/// their listening socket and open another one.
final class ServerMonitor: SocketHandler {
  enum Event {
    /// The processes behind the page are known.
    case found(lineage: Set<pid_t>)
    /// Another process serves, or is going to.
    case changed
  }

  /// When to look after a save, in milliseconds after the look before.
  private static let looks = [100, 150, 250, 500, 1_000, 2_000]
  /// The most processes whose ends are awaited.
  private static let mostProcesses = 32

  private let port: UInt16
  private let loop: SocketLoop
  private let report: (Event) -> Void
  private var known: ListeningProcesses?
  private var isSearching = false
  /// Whether nothing was found since the last save.
  private var isBlind = false
  private var hasAnswered = false
  private var hasChanged = false
  private var ends: [(token: UInt64, socket: any EventSocket)] = []
  private var nextLook: SocketLoop.Call?

  init(port: UInt16, on loop: SocketLoop, report: @escaping (Event) -> Void) {
    self.port = port
    self.loop = loop
    self.report = report
  }

  /// Whether it is seen that the server has started since the last save, so that it answers with what was saved.
  var isFresh: Bool { hasChanged && known?.processes.isEmpty == false }

  /// The server has answered a request, so that the process that serves can be found.
  func answered() {
    hasAnswered = true
    if known == nil && !isBlind { search() }
  }

  /// Files have changed because of which the server may start again.
  func saved() {
    (hasChanged, isBlind) = (false, false)
    loop.cancelCall(&nextLook)
    // Otherwise no page shows anything of the server.
    if hasAnswered { look(Self.looks[...]) }
  }

  private func look(_ pauses: ArraySlice<Int>) {
    guard let pause = pauses.first else { return }
    nextLook = loop.call(after: .milliseconds(pause)) { [weak self] in
      guard let self else { return }
      search()
      look(pauses.dropFirst())
    }
  }

  private func search() {
    if isSearching { return }
    isSearching = true
    let former = known
    loop.network.findProcesses(listeningAt: port, after: former) { [weak self] found in
      guard let self else { return }
      isSearching = false
      // One of them has ended meanwhile.
      if former != nil && known == nil { return }
      compare(found, with: former)
    }
  }

  private func compare(_ found: ListeningProcesses, with former: ListeningProcesses?) {
    if let former, found.differs(from: former) { return changed() }
    // Processes of other users are not found, but their sockets are.
    isBlind = found.sockets.isEmpty && found.processes.isEmpty
    if isBlind { return }
    known = found
    if former != nil { return }
    report(.found(lineage: found.lineage))
    do throws(SystemError) {
      for process in found.processes.sorted().prefix(Self.mostProcesses) {
        try awaitEnd(of: process)
      }
    } catch {
      changed()
    }
  }

  /// - Throws: If the process has ended already.
  private func awaitEnd(of process: pid_t) throws(SystemError) {
    guard let socket = try loop.network.end(of: process) else { return }
    guard let token = try? loop.add(self, for: socket) else { return socket.close() }
    ends.append((token, socket))
  }

  func socketChanged(isReadable: Bool, isWritable: Bool) {
    if isReadable { changed() }
  }

  func takeTurn() {}

  private func changed() {
    hasChanged = true
    forget()
    report(.changed)
  }

  private func forget() {
    known = nil
    for end in ends {
      loop.remove(end.token)
      end.socket.close()
    }
    ends = []
  }

  /// Ends the monitoring, after which the monitor can be released.
  func stop() {
    loop.cancelCall(&nextLook)
    forget()
  }
}
