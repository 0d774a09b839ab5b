import SystemCalls

// From activities to what clients are told.

extension PageSite {
  func note(_ activity: Activity) {
    switch activity {
    case .changed(let paths):
      let changed = contents.changed(
        paths.filter { path in page.watched.contains(where: path.isWithin) })
      perform(session.changed(changed, at: core.milliseconds))
    case .unsettled(let names):
      perform(session.unsettled(names, at: core.milliseconds))
    case .started(let task):
      if isServer(task) { upstream?.serverSettled() }
    case .stopping(let task):
      if isServer(task) { upstream?.serverRestarts() }
    case .ended(let task, let outcome, let status, let duration):
      noteEnd(of: task, outcome, status, duration)
    case .tasks, .roundBegan, .roundEnded, .output:
      break
    }
  }

  private func isServer(_ task: String) -> Bool {
    page.dependencies.contains(task) && core.status.task(task)?.description.isService == true
  }

  private func noteEnd(
    of task: String, _ outcome: Activity.Outcome, _ status: Int?, _ duration: Duration
  ) {
    guard page.dependencies.contains(task) else { return }
    switch outcome {
    case .failed, .notReady:
      session.ended(task, hasFailed: true)
      show(task, core.failureMessage(of: task, outcome, status, duration))
    case .succeeded, .ready:
      session.ended(task, hasFailed: false)
      clear(task)
    case .stopped, .skipped, .kept:
      // A server that was stopped is still on its way to the next start.
      return
    }
    upstream?.isHopeless = session.hasFailed
    if isServer(task) { upstream?.serverSettled() }
  }

  private func show(_ task: String, _ message: [UInt8]) {
    failures.removeAll { $0.task == task }
    failures.append((task, message))
    if page.showsOverlay { for stream in streams.values { stream.send(message) } }
  }

  private func clear(_ task: String) {
    guard failures.contains(where: { $0.task == task }) else { return }
    failures.removeAll { $0.task == task }
    for stream in streams.values { stream.send(ReloadMessage.cleared(task: task)) }
  }

  private func perform(_ decision: ReloadSession.Decision?) {
    switch decision {
    case .send(let message):
      send(message)
    case .wait(let milliseconds, let path):
      core.loop.call(afterMilliseconds: milliseconds) { [weak self] in
        guard let self else { return }
        perform(session.elapsed(at: core.milliseconds))
      }
      if hasFoundLoop { return }
      hasFoundLoop = true
      core.report(
        .warning(
          "each reload of \(page.name) changes \(core.shown(path)): reloading again for that in "
            + "\(milliseconds / 1000) s; to ignore it, pass -i '\(Path(bytes: path.lastComponent))'"
        ))
    case nil:
      break
    }
  }

  private func send(_ message: ReloadSession.Message) {
    revision += 1
    switch message {
    case .reload:
      tell(ReloadMessage.reload(revision: revision), paths: ["/"])
    case .update(let paths):
      let (shown, isExact) = addresses(of: paths)
      tell(
        ReloadMessage.update(revision: revision, isExact: isExact, paths: shown), paths: shown)
    }
  }

  private func tell(_ message: [UInt8], paths: [String]) {
    for stream in streams.values { stream.send(message) }
    for socket in sockets.values { for path in paths { socket.reload(path) } }
  }

  /// The addresses of files on this server; behind a proxy only the files are known.
  private func addresses(of paths: [Path]) -> (paths: [String], isExact: Bool) {
    guard case .directory(let root) = page.source, paths.allSatisfy({ $0.isWithin(root) }) else {
      return (paths.map { String(decoding: $0.bytes, as: UTF8.self) }, false)
    }
    let shown = paths.compactMap { $0.relative(to: root) }.map { path in
      "/" + path.components.map { HTMLText.percentEncode(Array($0)) }.joined(separator: "/")
    }
    return (shown, true)
  }

  /// Tells those who show it that the status has changed.
  func statusChanged() {
    for stream in streams.values where stream.wantsStatus { stream.send(ReloadMessage.status) }
  }

  var hasStatusClients: Bool { streams.values.contains(where: \.wantsStatus) }
}
