#if os(Linux)

extension SpawnRequest {
  package func spawn(in context: LaunchContext) throws(SystemError) -> pid_t {
    let program = Path(bytes: arguments.first ?? [])
    let input = standardInput.file
    if !sharesSocket { socket?.prepare() }
    var defaults = context.defaults
    var pid: pid_t = 0
    let code = withCStrings(arguments) { arguments in
      withCStrings(environment) { environment in
        withOptionalCString(directory) { directory in
          withOptionalCString(input) { input in
            program.withCString { program in
              withUnsafePointer(to: &defaults) { defaults in
                context.descriptors.withUnsafeBufferPointer { inherited in
                  var spawn = csystem_spawn(
                    program: program, arguments: arguments, environment: environment,
                    directory: directory, standard_input: input,
                    input: standardInput.descriptor ?? -1, output: output?.number ?? -1,
                    errors: errors?.number ?? -1, terminal: context.terminal?.descriptor ?? -1,
                    listener: socket?.number ?? -1,
                    defaults: defaults,
                    guardian: context.guardian?.page, inherited: inherited.baseAddress,
                    inherited_count: Int32(inherited.count))
                  return csystem_spawn(&spawn, &pid)
                }
              }
            }
          }
        }
      }
    }
    if pid == -1 { throw SystemError(call: "vfork", code: code) }
    if code != 0 { throw failure(code, of: program) }
    return pid
  }
}

private func withOptionalCString<Result>(
  _ path: Path?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  path.map { $0.withCString(body) } ?? body(nil)
}

extension PassedSocket {
  /// The value of `LISTEN_PID`, which the process that is started replaces by its own ID.
  package static var receiver: String? { "\(getpid())" }
}

extension sigaction {
  /// Whether the signal is ignored.
  var isIgnore: Bool {
    unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

extension Signal {
  /// Prepares the signal for a Dispatch source. On Linux the source installs its own handler, and a signal
  /// that is ignored would never reach it.
  package func prepareForSource() {}
}

#endif  // os(Linux)
