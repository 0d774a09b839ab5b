import ActionRunning
import Dispatch
import FileObservation
import Support
import SystemCalls
import WatchrunSettings

// Reads the project file, and the files with variables, again when they change.

extension Session {
  private func planOfCommandLine() throws(Failure) -> SessionPlan {
    var settings = try settings.readingEnvironmentFiles(in: directory)
    settings.socket = try settings.listen.map { address throws(Failure) in
      try socket(at: address, for: settings.commandName)
    }
    if let socket = settings.socket, settings.listen?.isLocal == true {
      settings.page.holdSocket(atPort: socket.port)
    }
    var plan = try SessionPlan(settings, in: directory)
    plan.observe(settings.environmentFiles, in: directory)
    return plan
  }

  /// The plan of a project; without one, that of the command line.
  func plan(of read: Project?, from source: ProjectSource?) throws(Failure) -> SessionPlan {
    guard let read, let source else { return try planOfCommandLine() }
    let settings = try settings.adding(read.defaults).readingEnvironmentFiles(in: directory)
    try settings.checkTimes()
    var project = try read.readingEnvironmentFiles(in: directory).choosingPorts(freePort)
    for (index, task) in project.tasks.enumerated() {
      guard let address = task.listen else { continue }
      project.tasks[index].socket = try socket(at: address, for: task.name)
    }
    do throws(TaskGraphError) {
      var plan = try SessionPlan(
        project, settings, in: directory,
        files: source.candidates
          + (project.sources + project.detectedFiles).map { $0.absolute(from: directory) },
        servesPages: !settings.isOneRound)
      plan.observe(project.allEnvironmentFiles + settings.environmentFiles, in: directory)
      plan.hasFile = source.hasFile
      ignoredChanges?.rules.withLock { $0 = ProjectRules(project, of: source) }
      return plan
    } catch {
      throw .usage("\(source.file): \(error)")
    }
  }
}

extension Session {
  /// Chooses a port that nothing listens on for a service: the same one in each session of a directory, if possible.
  private func freePort(for task: String) -> UInt16 {
    if let known = ports.withLock({ $0[task] }) { return known }
    // FNV-1a. Another hash would change the ports that bookmarks have.
    let hash = (directory.bytes + "\0\(task)".word).reduce(2_166_136_261 as UInt32) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    // Below the ports of outgoing connections.
    let taken = ports.withLock { Set($0.values) }
    let candidates = (0..<200).map { UInt16(10_000 + (hash &+ $0) % 20_000) }
    let port = candidates.first { port in
      !taken.contains(port) && (try? Socket.listen(at: "0.0.0.0", port: port)) != nil
    }
    let chosen = port ?? candidates[0]
    ports.withLock { $0[task] = chosen }
    console.say(.news, "\(task.printable): port \(chosen)", style: .faint)
    return chosen
  }
}

// MARK: - Sockets of services

extension Session {
  /// A socket that is open as long as a task uses it.
  struct HeldSocket: Sendable {
    weak var socket: PassedSocket?
  }

  /// The socket for a service: the one that it has, if it is the same address.
  private func socket(
    at address: ListenAddress, for task: String
  ) throws(Failure) -> PassedSocket {
    let port = address.port == Project.Task.freePort ? freePort(for: task) : address.port
    let open = sockets.withLock { sockets in
      sockets.firstResult { held -> PassedSocket? in
        held.socket.flatMap { $0.host == address.host && $0.port == port ? $0 : nil }
      }
    }
    if let open { return open }
    do throws(SystemError) {
      let socket = try PassedSocket(at: address.host, port: port)
      sockets.withLock { $0 = $0.filter { $0.socket != nil } + [HeldSocket(socket: socket)] }
      return socket
    } catch {
      if error.code == EADDRINUSE, sockets.withLock({ $0.contains { $0.socket?.port == port } }) {
        throw .launch(
          "cannot listen for \(task.printable): watchrun has port \(port) at another address; start it again",
          ExitCode.failure)
      }
      let problem = Socket.problem(listeningAt: port, error)
      let remedy =
        switch error.code {
        case EADDRINUSE: "; stop that process, or choose another port"
        case EACCES: "; choose a port from 1024"
        default: ""
        }
      throw .launch(
        "cannot listen for \(task.printable): \(problem)\(remedy)", ExitCode.failure)
    }
  }
}

extension RunSession {
  /// Reads what has changed of the project file and of files with variables, and returns the other changes.
  func takeFileChanges(from batch: ChangeBatch, _ runner: TaskRunner) -> ChangeBatch {
    let (plan, project) = state.withLock { ($0.plan, $0.project) }
    let (files, variables) = (plan.sources, plan.environmentFiles)
    var rest = batch
    let logs = plan.observation.allLogs
    if !logs.isEmpty {
      // A log of a changed project may be new, and so may the directories that it is in.
      let places = Set(logs.flatMap { Array($0.lineage) })
      rest.changes.removeAll { change in
        logs.contains(change.path)
          || change.type == .directory && change.kind != .removed && places.contains(change.path)
      }
    }
    if files.isEmpty && variables.isEmpty { return rest }
    let manifests = project.map { batch.manifests(of: $0, in: session.directory) } ?? []
    let changed =
      (files + variables).filter { file in
        batch.changes.contains { $0.path == file || $0.from == file }
      } + manifests
    let next = readings.withLock { readings in
      changed.compactMap { file in readings.changed(file, at: .now).map { (file, wait: $0) } }
    }.min { $0.wait < $1.wait }
    let detected = detectedFiles
    if let (file, wait) = next { readFiles(after: wait, file, runner) }
    // Other tasks of a project may watch a file with variables, and what it was detected by is a source.
    let taken = source == nil ? variables : files.filter { !detected.contains($0) }
    rest.changes.removeAll { taken.contains($0.path) }
    return rest
  }

  private func readFiles(after delay: Duration, _ file: Path, _ runner: TaskRunner) {
    if delay == .zero { return readFiles(runner) }
    let name = file.relative(to: session.directory) ?? file
    let problem = "what starts changes \(name): it is read again in \(delay.shortDescription)"
    // What waits is not in any result.
    desk.postpone(problem, for: delay)
    if delay >= Suspicion.Rules.noticed { session.console.warn(problem) }
    let count = readings.withLock(\.count)
    runner.queue.asyncAfter(deadline: .now() + .milliseconds(delay.milliseconds)) {
      [weak self, weak runner] in
      // Unless another reading has taken what waited.
      guard let self, let runner, !session.isEnding, readings.withLock(\.count) == count else {
        return
      }
      readFiles(runner)
    }
  }

  /// The files by which the project was detected, by absolute paths.
  private var detectedFiles: [Path] {
    let files = state.withLock { $0.project?.detectedFiles ?? [] }
    return files.map { $0.absolute(from: session.directory) }
  }

  func readFiles(_ runner: TaskRunner) {
    desk.picture.withLock { $0.postponed = nil }
    let changed = readings.withLock { $0.take(at: .now) }
    if changed.isEmpty { return }
    // Those who follow learn of errors, and that there are none.
    defer { desk.changed() }
    let (plan, broken) = state.withLock { ($0.plan, $0.brokenManifests) }
    let manifests = changed.subtracting(plan.environmentFiles).subtracting(plan.sources)
    let read = manifests.union(broken).union(changed.intersection(detectedFiles))
    let problems = read.sorted().compactMap { manifest in
      manifest.problemInManifest(in: session.directory).map { (manifest, $0) }
    }
    state.withLock { $0.brokenManifests = Set(problems.map(\.0)) }
    if let problem = problems.first?.1 {
      state.withLock { $0.isBroken = true }
      desk.setProblem(problem)
      session.console.problem("\(problem); the tasks stay as they were until it is correct")
      return
    }
    readAgain(
      plan.sources.first(where: changed.contains), manifest: manifests.sorted().first,
      variables: plan.environmentFiles.first(where: changed.contains), runner)
  }

  /// Reads again what tasks are made of, after a change of a file of the project, of manifests of members, or of a file
  /// with variables. Variables are read in any case: a change of them may have come with an error elsewhere.
  private func readAgain(
    _ file: Path?, manifest: Path?, variables: Path?, _ runner: TaskRunner
  ) {
    func shown(_ path: Path?) -> String? {
      path.map { ($0.relative(to: session.directory) ?? $0).description }
    }
    let (old, isBroken) = state.withLock { ($0.project, $0.isBroken) }
    var project = old
    var part = "tasks"
    do throws(Failure) {
      if let source, isBroken || manifest != nil || file != nil {
        // The tasks of a file are not replaced by detected ones when it is removed.
        let detects = state.withLock { !$0.plan.hasFile }
        if let read = try source.project(for: session.settings, again: true, detects: detects) {
          project = read
        } else if let old, detects, detectedFiles.contains(where: { fileExists($0) }) {
          // They may do now what nothing is run by itself for.
          session.console.warn("the tasks are not detected any more, so they are not run")
          project = old.withoutTasks
        } else {
          session.console.warn(
            detects
              ? "no project is detected any more; the tasks stay as they were"
              : "\(shown(file) ?? "\(source.file)") was removed; its tasks stay as they were")
          if variables == nil { return }
        }
      }
      if project == old { part = "variables" }
      let plan = try session.plan(of: project, from: source)
      if let project, let old, project != old {
        let name = shown(file ?? variables) ?? "the directories of tasks"
        return try replace(old, by: project, plan, readFrom: name, runner)
      }
      noteNoProblem()
      let changed = state.withLock { state in
        let graph = exchange(&state.plan.graph, with: plan.graph)
        return plan.graph.tasks.filter { graph[$0.name] != $0 }
      }
      let name = shown(variables ?? file ?? manifest ?? source?.path) ?? ""
      if isBroken && changed.isEmpty {
        session.console.say(.news, "\(name) has no errors any more")
      } else if variables != nil || !changed.isEmpty {
        let names =
          source == nil ? "the command" : changed.map(\.name.printable).joined(separator: ", ")
        session.console.say(
          .news,
          "\(name) read again (\(changed.isEmpty ? "no variable has changed" : "for \(names)"))")
      }
      // The error may be why they have failed.
      let red = isBroken && file == nil && variables == nil ? desk.picture.withLock(\.redTasks) : []
      if !changed.isEmpty { runner.replace(plan.graph) }
      // The change is what a postponed task waits for.
      let starting = plan.graph.tasks.filter { task in
        !task.isManual && (red.contains(task.name) || task.isPostponed && changed.contains(task))
      }
      runner.submitChange(for: starting.map(\.name))
    } catch {
      state.withLock { $0.isBroken = true }
      desk.setProblem(error.message)
      session.console.report(error)
      // The error may be in a file with variables that has not changed.
      let start = String(error.message.prefix { $0 != ":" })
      let isOfVariables = state.withLock {
        $0.plan.environmentFiles.contains { $0.shown(in: session.directory).description == start }
      }
      let cause =
        error.file ?? (isOfVariables ? start : shown(file ?? variables ?? source?.path) ?? "")
      session.console.warn("the \(part) stay as they were until \(cause) is correct")
    }
  }

  private func noteNoProblem() {
    state.withLock { $0.isBroken = false }
    desk.setProblem(nil)
  }

  /// Goes on with another project.
  private func replace(
    _ old: Project, by project: Project, _ plan: SessionPlan, readFrom name: String,
    _ runner: TaskRunner
  ) throws(Failure) {
    var plan = plan
    let observation = state.withLock { $0.plan.observation }
    plan.observation.formerLogs = observation.allLogs
    try observe(plan, project, insteadOf: old, runner)
    noteNoProblem()
    if plan.observation.logs != observation.logs, let problem = logs.setPaths(of: plan) {
      session.console.warn(problem)
    }
    let settings = session.settings.adding(project.defaults)
    state.withLock { [plan] in ($0.project, $0.plan, $0.settings) = (project, plan, settings) }
    if project.defaults["diagnostics"] != old.defaults["diagnostics"] {
      desk.setFile(settings.diagnosticsFile)
    }
    session.console.say(.news, "\(name) read again (\(project.changes(since: old)))")
    for group in project.groups where !old.groups.contains(group) {
      if let lack = group.lack { session.console.warn(lack) }
    }
    warnOfMissingPaths(in: project, since: old)
    reporter.setPlan(plan)
    desk.setPlan(plan)
    for problem in openPages(of: plan) { session.console.problem(problem) }
    statusLine.update(plan.statusLine(settings))
    runner.replace(plan.graph, reading: plan.reading)
  }

  private func observe(
    _ plan: SessionPlan, _ project: Project, insteadOf old: Project, _ runner: TaskRunner
  ) throws(Failure) {
    let hasSameOptions =
      project.ignores == old.ignores && project.kinds == old.kinds
      && project.defaults == old.defaults
      && plan.observation.allLogs == state.withLock { $0.plan.observation.allLogs }
    if hasSameOptions { return try observeOtherPaths(of: plan) }
    // The options of an observer are fixed.
    let start = FileTime.now()
    let settings = session.settings.adding(project.defaults)
    let observer = try session.makeObserver(plan.observation, with: settings)
    let outdated = state.withLock { exchange(&$0.observer, with: observer) }
    self.start(observer, runner, countingFrom: start, insteadOf: outdated)
  }

  private func observeOtherPaths(of plan: SessionPlan) throws(Failure) {
    let (current, oldPaths) = state.withLock { ($0.observer, $0.plan.observation.paths) }
    guard let observer = current else { return }
    let paths = plan.observation.paths
    do throws(ObserverError) {
      for path in paths where !oldPaths.contains(path) { try observer.add(path) }
    } catch {
      throw .launch(error.description, ExitCode.failure)
    }
    for path in oldPaths where !paths.contains(where: { $0.path == path.path }) {
      observer.remove(path.path)
    }
  }

  func warnOfMissingPaths(in project: Project, since old: Project? = nil) {
    for page in project.pages where old?.pages.contains(page) != true {
      warnOfMissingPaths(of: page)
    }
    for task in project.tasks where old?.tasks.contains(task) != true {
      for path in task.watched where isMissing(path) {
        session.console.warn(
          "\(task.name): no such path to watch: \(path); it is watched as soon as it exists")
      }
    }
  }

  func warnOfMissingPaths(of page: Project.Page) {
    var paths = page.observed
    if let served = page.served, let file = page.fallbackFile, !isMissing(served) {
      paths.append(file)
    }
    for path in paths where isMissing(path) {
      session.console.warn(
        "\(page.name): no such path: \(path); it is served and watched as soon as it exists")
    }
  }

  private func isMissing(_ path: Path) -> Bool {
    (try? FileStatus(of: path.absolute(from: session.directory))) == nil
  }
}

extension ChangeBatch {
  /// The changed paths after which tasks may run in other directories, or depend on others.
  fileprivate func manifests(of project: Project, in directory: Path) -> [Path] {
    if project.groups.isEmpty { return [] }
    return changes.flatMap { change in
      let isMoved = change.kind == .renamed && change.type == .directory
      let paths =
        [(change.path, change.kind != .removed && !isMoved)]
        + (change.from.map { [($0, false)] } ?? [])
      return paths.compactMap { path, isPresent -> Path? in
        guard let place = path.relative(to: directory) else { return nil }
        return isMoved || project.concernsMembers(place, isPresent: isPresent) ? path : nil
      }
    }
  }
}
