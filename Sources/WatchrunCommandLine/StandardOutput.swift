import SystemCalls

/// Writes an answer, such as that of `--list-tasks`, to standard output. A reader that has closed its pipe has
/// read what it needs.
func writeAnswer(_ bytes: [UInt8]) throws(Failure) {
  do throws(SystemError) {
    try writeAll(bytes, to: STDOUT_FILENO)
  } catch {
    if error.code == EPIPE { return }
    throw Failure(lostOutputMessage(error), ExitCode.outputFailed)
  }
}

/// The message about output that could not be written.
func lostOutputMessage(_ error: SystemError) -> String {
  "cannot write to standard output: \(error.reason); the output is incomplete"
}
