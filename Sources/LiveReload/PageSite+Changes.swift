import SystemCalls

// The way from activities to messages for clients.

extension PageSite {
  func note(_ activity: Activity) {
    switch activity {
    case .changed(let paths):
      let changed = contents.changed(
        paths.filter { path in page.watched.contains(where: path.isWithin) })
      if !changed.isEmpty { for monitor in monitors.values { monitor.saved() } }
      perform(session.changed(changed, at: core.milliseconds))
    case .unsettled(let names):
      let decision = session.unsettled(names, at: core.milliseconds)
      noteTasks()
      perform(decision)
    case .started(let task):
      noteStart(of: task)
    case .stopping(let task):
      for server in servers(of: task) { server.serverRestarts(isCertain: server.tasks == [task]) }
    case .serving(let task):
      noteDown(task, false)
    case .ended(let task, let outcome, let status, let duration):
      noteEnd(of: task, outcome, status, duration)
    case .tasks, .roundBegan, .roundEnded, .launched, .output, .diagnosed:
      break
    }
  }

  /// Passes what is known of the tasks on to the servers: whether a service has started that is not ready, and whether
  /// there is hope. A service that waits for a build has not started, and its requests fail after the usual time.
  func noteTasks() {
    let isGettingReady = session.unsettled.contains { isService($0) && state(of: $0) == .running }
    let hopeless = servers.values.filter(\.isHopeless)
    for server in servers.values {
      (server.isGettingReady, server.isHopeless) = (isGettingReady, !hasHope(of: server))
    }
    if hopeless.contains(where: { !$0.isHopeless }) {
      for stream in streams { stream.send(ReloadMessage.retry) }
    }
  }

  /// Whether a server may answer before a task succeeds that has failed: one that runs again may succeed, and a server
  /// that is stopped is about to be started. One that no task runs needs none.
  private func hasHope(of server: Upstream) -> Bool {
    let failed = session.failed.filter { state(of: $0) != .running }
    let tasks = server.tasks.isEmpty ? page.dependencies.filter(isServer) : server.tasks
    if failed.isEmpty || tasks.isEmpty { return failed.isEmpty || server.isForeign }
    return failed.isDisjoint(with: tasks)
      && tasks.contains { [.running, .ready, .stopped].contains(state(of: $0)) }
  }

  private func state(of task: String) -> StatusModel.State? { core.status.task(task)?.state }

  private func isServer(_ task: String) -> Bool {
    session.serving.contains(task) || page.dependencies.contains(task) && isService(task)
  }

  /// Which of several servers it is may not be known. Requests to another one are delayed by a retry.
  private func servers(of task: String) -> [Upstream] {
    servers.values.filter { server in
      let isAnother = server.tasks.contains { [.running, .ready].contains(state(of: $0)) }
      return server.tasks.contains(task) || !isAnother && isServer(task)
    }
  }

  private func isService(_ task: String) -> Bool {
    core.status.task(task)?.description.isService == true
  }

  private func noteStart(of task: String) {
    guard isServer(task), !servers.isEmpty else { return noteTasks() }
    noteDown(task, false)
    if session.serving.contains(task) {
      clear(task)
      perform(session.servingStarted(task, at: core.milliseconds))
    } else {
      session.serverStarted()
    }
    noteTasks()
    for server in servers(of: task) { server.serverSettled() }
  }

  /// The processes behind a port are known, or have changed.
  func note(_ event: ServerMonitor.Event, atPort port: UInt16) {
    switch event {
    case .found(let lineage):
      let found = core.status.tasks.filter {
        [.running, .ready].contains($0.state) && $0.process.map(lineage.contains) == true
      }
      let tasks = page.dependencies.intersection(found.map(\.description.name))
      // This process may hold the socket of a task, and other users' processes are not seen.
      if !tasks.isEmpty || !lineage.isEmpty && !lineage.contains(processIDs().own) {
        for server in servers.values where server.address.isLocal && server.address.port == port {
          if server.tasks != tasks && !server.tasks.isEmpty { server.serverSettled() }
          (server.tasks, server.isForeign) = (tasks, tasks.isEmpty)
        }
      }
      // The command may keep running, and even start its server again by itself. Any may have started a daemon.
      let running = page.dependencies.filter { state(of: $0) == .running }
      let isDaemon =
        tasks.isEmpty && lineage.contains(processIDs().own) && !isHeld(port)
        && running.count == 1 && !page.dependencies.contains(where: isService)
      let commands = (isDaemon ? running : tasks).filter { !isService($0) }
      let decision = session.serves(commands, at: core.milliseconds)
      for task in commands { clear(task) }
      noteTasks()
      perform(decision)
    case .changed:
      perform(session.processChanged(at: core.milliseconds))
    }
  }

  /// Whether this process holds the socket of a server.
  private func isHeld(_ port: UInt16) -> Bool {
    servers.keys.contains { $0.port == port && $0.isHeld }
  }

  private func noteEnd(
    of task: String, _ outcome: Activity.Outcome, _ status: Int?, _ duration: Duration
  ) {
    guard page.dependencies.contains(task) else { return }
    switch outcome {
    case .failed, .notReady:
      noteDown(task, outcome == .failed)
      session.ended(task, hasFailed: true)
      show(task, core.failureMessage(of: task, outcome, status, duration))
    case .succeeded:
      session.ended(task, hasFailed: false)
      clear(task)
    case .ready:
      session.becameReady(task)
      clear(task)
    case .stopped, .skipped, .kept:
      break
    }
    noteTasks()
    if !isServer(task) || outcome == .skipped || outcome == .kept { return }
    for server in servers(of: task) {
      if outcome == .stopped { server.serverStopped() } else { server.serverSettled() }
    }
  }

  /// A service runs, or has ended. Which of several is behind a socket is not known.
  func noteDown(_ task: String, _ isDown: Bool) {
    guard isServer(task), page.dependencies.count(where: isServer) == 1 else { return }
    for server in servers.values where server.address.isHeld { server.isDown = isDown }
  }

  private func show(_ task: String, _ message: [UInt8]) {
    failures.removeAll { $0.task == task }
    failures.append((task, message))
    if page.showsOverlay { for stream in streams { stream.send(message) } }
  }

  private func clear(_ task: String) {
    guard failures.contains(where: { $0.task == task }) else { return }
    failures.removeAll { $0.task == task }
    for stream in streams { stream.send(ReloadMessage.cleared(task: task)) }
  }

  /// Reloads the page because the embedding program says so.
  func reload() {
    clear(PageFailure.task)
    perform(session.reloadRequested(at: core.milliseconds))
  }

  /// Shows a failure of the embedding program.
  func show(_ failure: PageFailure) {
    show(PageFailure.task, core.failureMessage(of: PageFailure.task, failure))
  }

  func perform(_ decision: ReloadSession.Decision?) {
    switch decision {
    case .send(let message):
      send(message)
    case .wait(let milliseconds, let path):
      wait(milliseconds)
      guard let path, !hasFoundLoop else { return }
      hasFoundLoop = true
      core.report(
        .warning(
          .reloadLoop(
            of: page.name, by: path, shown: core.shown(path), seconds: milliseconds / 1000)))
    case .ask(let server, let milliseconds):
      ask(server, afterMilliseconds: milliseconds)
    case nil:
      break
    }
  }

  private func wait(_ milliseconds: Int) {
    core.loop.call(after: .milliseconds(milliseconds)) { [weak self] in
      guard let self else { return }
      perform(session.elapsed(at: core.milliseconds))
    }
  }

  /// Requests the awaited document again, unless it is seen that its server has started since the last save.
  private func ask(_ server: ServerAddress, afterMilliseconds pause: Int) {
    readers[server]?.read(afterMilliseconds: pause) { [weak self] in
      guard let self, servers[server].flatMap(monitor(of:))?.isFresh != true else { return false }
      session.requested(at: core.milliseconds)
      return true
    } _: { [weak self] answer in
      guard let self else { return }
      perform(session.answered(answer, from: server, at: core.milliseconds))
    }
  }

  func stopReading() {
    for reader in readers.values { reader.cancel() }
    readers = [:]
  }

  private func send(_ message: ReloadSession.Message) {
    switch message {
    case .update(let paths) where paths.contains(where: workerFiles.contains):
      send(.reload)
    case .reload:
      stopReading()
      broadcast(ReloadMessage.reload(revision: revision), paths: ["/"])
    case .update(let paths):
      let (shown, isExact) = addresses(of: paths)
      broadcast(
        ReloadMessage.update(revision: revision, isExact: isExact, paths: shown), paths: shown)
    }
  }

  private func broadcast(_ message: [UInt8], paths: [String]) {
    for stream in streams { stream.send(message) }
    for socket in sockets { for path in paths { socket.reload(path) } }
  }

  /// The URL paths of files, or the files themselves if another server serves them.
  private func addresses(of paths: [Path]) -> (paths: [String], isExact: Bool) {
    guard case .directory(let root) = page.source, paths.allSatisfy({ $0.isWithin(root) }) else {
      return (paths.map { String(decoding: $0.bytes, as: UTF8.self) }, false)
    }
    let shown = paths.compactMap { $0.relative(to: root) }.map { path in
      "/" + path.components.map { HTMLText.percentEncode(Array($0)) }.joined(separator: "/")
    }
    return (shown, true)
  }

  /// Notifies clients that show the status of a change.
  func statusChanged() {
    for stream in streams where stream.wantsStatus { stream.send(ReloadMessage.status) }
  }

  var hasStatusClients: Bool { streams.contains(where: \.wantsStatus) }
}
