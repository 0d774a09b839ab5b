#if canImport(Darwin)

extension SpawnRequest {
  package func spawn(in context: LaunchContext) throws(SystemError) -> pid_t {
    do throws(SystemError) {
      return try spawn(arguments, in: context)
    } catch {
      guard error.code == ENOEXEC, let program = arguments.first else { throw error }
      let script = [Array("/bin/sh".utf8), program] + arguments.dropFirst()
      return try spawn(script, in: context)
    }
  }

  /// The attributes that apply. Other descriptors are not inherited, and the process starts suspended until
  /// its group is registered with the guardian and has the terminal.
  private static let flags = Int16(
    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
      | POSIX_SPAWN_CLOEXEC_DEFAULT | POSIX_SPAWN_START_SUSPENDED)

  private func spawn(
    _ arguments: [[UInt8]], in context: LaunchContext
  ) throws(SystemError) -> pid_t {
    let name = arguments.first ?? []
    let path = environment.last { $0.starts(with: "PATH=".utf8) }?.dropFirst(5)
    // In the PATH that it will have, as shells do.
    let directories = programDirectories(path.map(Array.init))
    let program = findProgram(name, in: directories) ?? Path(bytes: name)
    var attributes = posix_spawnattr_t(bitPattern: 0)
    try checkedCode("posix_spawnattr_init") { posix_spawnattr_init(&attributes) }
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    var defaults = context.defaults
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Self.flags)

    var actions = posix_spawn_file_actions_t(bitPattern: 0)
    try checkedCode("posix_spawn_file_actions_init") { posix_spawn_file_actions_init(&actions) }
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let file = standardInput.file {
      _ = file.withCString {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, $0, O_RDONLY, 0)
      }
    } else if let descriptor = standardInput.descriptor {
      posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
    } else {
      posix_spawn_file_actions_addinherit_np(&actions, STDIN_FILENO)
    }
    for (number, destination) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      if let destination {
        posix_spawn_file_actions_adddup2(&actions, destination.number, number)
      } else {
        posix_spawn_file_actions_addinherit_np(&actions, number)
      }
    }
    if let socket {
      if !sharesSocket { socket.prepare() }
      if socket.number == PassedSocket.descriptor {
        posix_spawn_file_actions_addinherit_np(&actions, socket.number)
      } else {
        posix_spawn_file_actions_adddup2(&actions, socket.number, PassedSocket.descriptor)
      }
    }
    for number in context.descriptors where socket == nil || number != PassedSocket.descriptor {
      posix_spawn_file_actions_addinherit_np(&actions, number)
    }
    _ = directory?.withCString { csystem_spawn_add_change_directory(&actions, $0) }

    var pid: pid_t = 0
    let code = withCStrings(arguments) { argv in
      withCStrings(environment) { envp in
        program.withCString { posix_spawnp(&pid, $0, &actions, &attributes, argv, envp) }
      }
    }
    if code != 0 { throw failure(code, of: program) }
    context.guardian?.add(ProcessGroup(leader: pid))
    try? context.terminal?.give(to: pid)
    kill(pid, SIGCONT)
    return pid
  }
}

extension PassedSocket {
  /// The value of `LISTEN_PID`: `posix_spawn` cannot set the ID of the process that it starts.
  package static var receiver: String? { nil }
}

extension sigaction {
  /// Whether the signal is ignored.
  var isIgnore: Bool {
    unsafeBitCast(__sigaction_u.__sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

extension Signal {
  /// Prepares the signal for a Dispatch source, which observes it besides its action: so that must be to
  /// ignore it.
  package func prepareForSource() {
    ignore()
  }
}

#endif  // canImport(Darwin)
