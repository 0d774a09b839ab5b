import SystemCalls
import WatchrunSettings

/// Writes to standard output: an answer, such as that of `--list-tasks`, or a part of a stream.
///
/// - Returns: Whether there is still a reader. One that has closed its pipe has read what it needs.
@discardableResult
func writeAnswer(_ bytes: [UInt8]) throws(Failure) -> Bool {
  do throws(SystemError) {
    try writeAll(bytes, to: STDOUT_FILENO)
    return true
  } catch {
    if error.code == EPIPE { return false }
    throw .launch(lostOutputMessage(error), ExitCode.outputFailed)
  }
}

/// The message about output that could not be written.
func lostOutputMessage(_ error: SystemError) -> String {
  "cannot write to standard output: \(error.reason); the output is incomplete"
}
