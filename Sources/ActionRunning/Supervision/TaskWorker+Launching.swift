import FileObservation
import Support
import SystemCalls

// Starts processes, on the queue.

extension TaskWorker {
  /// The hook is of the latest run.
  func launchHook(after status: ExitStatus) {
    let policy = definition.policy
    guard let command = status.isSuccess ? policy.onSuccess : policy.onFailure,
      let (latest, duration) = state.access({ state in state.latest.map { ($0, state.duration) } })
    else { return }
    let variables: [Command.EnvironmentVariable] = [
      .init("WATCHRUN_STATUS", String(status.code)),
      .init("WATCHRUN_DURATION_MS", String(duration.nanoseconds / 1_000_000)),
    ]
    let run = TaskReport.Run(
      task: name, job: .hook, number: latest.number, trigger: latest.trigger)
    begin(run, command, variables + context.options.hookVariables(name))
  }

  func begin(
    _ run: TaskReport.Run, _ command: Command, _ variables: [Command.EnvironmentVariable] = []
  ) {
    state.access { state in
      state.processes[run.job] = Process(run: run)
      state.ended = nil
      if run.job != .command { return }
      state.latest = run
      state.spans = state.spans.suffix(1) + [(.now(), nil)]
    }
    context.report(.run(run, .started))
    if run.job == .command { notify(.started) }
    var command = command
    if command.inheritsStandardInputAlone && context.isAlone() {
      command.inheritsStandardInput = true
    }
    if context.isRead(definition) && !run.takesTerminal {
      command.environment.variables =
        command.readOutputEnvironment.variables + command.environment.variables
    }
    if run.takesTerminal { (command.takesTerminal, command.inheritsStandardInput) = (true, true) }
    do throws(SystemError) {
      try spawn(command, for: run, variables)
    } catch {
      launchFailed(run, error)
    }
  }

  /// Starts a command that is no run. What it leaves behind is killed, and output without a destination is dropped.
  func launchBeside(
    _ command: Command, output: PipeInput? = nil, errors: PipeInput? = nil,
    _ ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let directory = directory(of: command)
    let name = workingDirectoryName(of: directory ?? ".")
    let launch = Command.LaunchContext(
      inherited: processEnvironment(), currentDirectory: context.directory,
      variables: definition.sharedVariables + [.init("PWD", name.bytes)])
    var request = command.spawnRequest(for: RunTrigger(.start), in: launch)
    let silence = output == nil ? try PipeInput.discarding() : nil
    (request.output, request.errors) = (output ?? silence, errors ?? silence)
    (request.directory, request.standardInput) = (directory, .null)
    let group = Confined<(any LaunchedGroup)?>(nil, to: context.queue)
    let launched = try context.launcher.launch(request) { status in
      if let group = group.access({ $0.take() }), group.isAlive { _ = group.sendToAll(.kill) }
      ended(status)
    }
    group.access { $0 = launched }
    return launched
  }

  /// The next run of the command, which receives all that it is owed.
  func makeRun() -> TaskReport.Run {
    let trigger = context.receive(name, state.access(\.reason))
    PythonCaches.removeUncertain(trigger.changes)
    let tests = tests(for: trigger)
    return state.access { state in
      state.runCount += 1
      var run = TaskReport.Run(
        task: name, job: .command, number: state.runCount, trigger: trigger)
      run.tests = tests
      let takesTerminal = exchange(&state.takesTerminalNext, with: false)
      run.takesTerminal = takesTerminal || state.definition.command.takesTerminal
      return run
    }
  }

  /// What replaces `{tests}`: the tests of the runs since one has succeeded, and those of the changes; none for all.
  private func tests(for trigger: RunTrigger) -> [Path] {
    guard let map = definition.command.testMap else { return [] }
    let directory = definition.command.directory?.absolute(from: context.directory)
    let place = directory ?? context.directory
    let before = state.access { $0.unprovenTests }?.filter { TestMap.exists($0, in: place) }
    var tests: [Path] = []
    if let before, let mapped = map.tests(for: trigger, in: place) {
      tests = TestMap.union(before, mapped)
    }
    state.access { $0.unprovenTests = tests.isEmpty ? nil : tests }
    return tests
  }

  private func startTimeout() {
    guard let timeout = definition.policy.timeout else { return }
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: timeout)) { [weak self] in
      self?.advance { $0.timedOut() }
    }
    state.access { $0.timeout = timer }
  }

  private func launchFailed(_ run: TaskReport.Run, _ error: SystemError) {
    let status = ExitStatus.exited(error.code == ENOENT ? 127 : 126)
    state.access { state in
      state.processes[run.job] = nil
      state.noteEnd(of: run.job)
    }
    context.report(.run(run, .notStarted(error, status: status)))
    if run.job == .command { record(status, .byItself, .zero) }
    advance { $0.ended(run.job, status) }
  }

  private func spawn(
    _ command: Command, for run: TaskReport.Run, _ variables: [Command.EnvironmentVariable]
  ) throws(SystemError) {
    let trigger = run.trigger
    let directory = directory(of: command)
    let name = workingDirectoryName(of: directory ?? ".")
    var launch = Command.LaunchContext(
      inherited: processEnvironment(), currentDirectory: context.directory,
      variables: definition.sharedVariables + (command.describesRun ? variables : [])
        + [.init("PWD", name.bytes)])
    if run.job == .command { launch.tests = run.tests }
    if command.changeDelivery == .environment && !trigger.changes.isEmpty {
      // A run without the file is better than none.
      let list = Path.lines(trigger.changes.map(\.path), separatedByNUL: true)
      do throws(SystemError) {
        launch.pathsFile = try files.write(list, "paths", for: run.job)
      } catch {
        if !state.access({ exchange(&$0.hasLackedPaths, with: true) }) {
          context.report(.run(run, .pathsNotWritten(error)))
        }
      }
    }
    if let text = command.changeDelivery.text(for: trigger, number: run.number) {
      launch.input = try files.write(text, "input", for: run.job)
    }
    // Watchers and servers of many tools end when their standard input does, since the program that has started
    // them is gone then. Other runs may wait for that end.
    let staysOpen = run.job == .command && definition.keepsRunning
    let silence = staysOpen && !command.inheritsStandardInput ? try SilentPipe() : nil
    state.access { $0.processes[run.job]?.input = silence }
    let (output, errors) = command.takesTerminal ? (nil, nil) : try openOutput(of: run)
    let sharesSocket = context.hasFormer(run.task)
    attempt(run, takesTerminal: command.takesTerminal) { [launch] limits in
      var launch = launch
      launch.limits = limits
      var request = command.spawnRequest(for: trigger, in: launch)
      (request.output, request.errors) = (output, errors)
      request.sharesSocket = sharesSocket
      if let silence, launch.input == nil { request.standardInput = .silent(silence) }
      request.directory = directory
      return request
    }
  }

  /// The directory to enter for a run; `nil` for that of this process, unless that was removed and made again.
  private func directory(of command: Command) -> Path? {
    let base = context.directory
    if isSameFile(".", base) { return command.directory }
    return command.directory?.absolute(from: base) ?? base
  }

  /// Opens the pipes or the pseudo-terminal for the output of a run, and reads them; `nil` for what is not read.
  func openOutput(
    of run: TaskReport.Run
  ) throws(SystemError) -> (output: PipeInput?, errors: PipeInput?) {
    guard let sink = context.output, context.isRead(definition) else { return (nil, nil) }
    guard let streams = context.options.separateStreams else {
      let both = try open(.standardOutput, of: run, sink)
      return (both, both)
    }
    return (
      streams.contains(.standardOutput) ? try open(.standardOutput, of: run, sink) : nil,
      streams.contains(.standardError) ? try open(.standardError, of: run, sink) : nil
    )
  }

  private func open(
    _ stream: TaskOutput.Stream, of run: TaskReport.Run, _ sink: @escaping TaskOutput.Sink
  ) throws(SystemError) -> PipeInput {
    let (reader, input) = try OutputReader.open(
      on: context.queue, terminal: context.options.terminalSize(name),
      hasRoom: context.options.outputRoom
    ) { [self] line in
      sink(
        TaskOutput(
          run: run, stream, line: line.bytes, isSplit: line.isSplit, isFinished: line.isFinished))
      examine(line.bytes, of: run)
    }
    state.access { $0.processes[run.job]?.readers.append(reader) }
    return input
  }

  /// Examines output of the latest run for the line that means it is ready.
  private func examine(_ line: [UInt8], of run: TaskReport.Run) {
    let check = state.access { $0.latest == run ? $0.check : nil }
    check?.sees(line)
  }
}

// MARK: - Attempts

extension TaskWorker {
  /// Starts the process, with fewer paths if there are too many. While another process writes the program, that is
  /// attempted again for a second. Another process may have been given the terminal since the run began.
  private func attempt(
    _ run: TaskReport.Run, takesTerminal: Bool,
    _ request: @escaping @Sendable (Command.ArgumentLimits) -> SpawnRequest
  ) {
    let retry = { @Sendable [weak self] () -> Void in
      guard let self, let process = process(of: run), process.group == nil else { return }
      attempt(run, takesTerminal: takesTerminal, request)
    }
    if run.job == .command && !context.mayStart(name, retry)
      || takesTerminal && !context.launcher.hasTerminal(orCall: retry)
    {
      return wait(to: run)
    }
    for limits in Command.ArgumentLimits.all {
      let now = scheduler.now
      do throws(SystemError) {
        // The closure retains the worker while a process runs.
        let group = try context.launcher.launch(request(limits)) { [self] in leaderEnded(run, $0) }
        state.access { state in
          state.processes[run.job]?.group = group
          state.processes[run.job]?.began = now
          state.processes[run.job]?.leaderIsAlive = true
        }
        context.report(.run(run, .launched(processID: group.leader)))
        if run.job == .command {
          startTimeout()
          notify(.launched(isAttempt: false))
        }
        return
      } catch {
        if error.code == E2BIG && limits != Command.ArgumentLimits.all.last { continue }
        guard error.code == ETXTBSY,
          let pause = state.access({ $0.processes[run.job]?.attempts.pause() })
        else { return launchFailed(run, error) }
        let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause), retry)
        state.access { $0.processes[run.job]?.timer = timer }
        return wait(to: run)
      }
    }
  }

  private func wait(to run: TaskReport.Run) {
    if run.job == .command { notify(.launched(isAttempt: true)) }
  }
}
