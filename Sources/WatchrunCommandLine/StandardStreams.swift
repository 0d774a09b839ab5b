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

/// Ends watchrun with a message if the system refuses what it cannot work without. Must be called before
/// anything uses Dispatch.
func checkRequirements() {
  // What a session has open and runs on, and one run.
  guard let error = missingRequirement(descriptors: 28, threads: 6) else { return }
  let advice =
    switch (error.call, error.code) {
    case (_, EMFILE): "raise the limit of open files: ulimit -n 256"
    case (_, EAGAIN):
      "raise the limit of processes (ulimit -u, pids.max of the container), or end other ones"
    case ("pthread_create", _): "allow clone and clone3 in the profile of the container or sandbox"
    default: "allow it in the profile of the container or sandbox"
    }
  sayWithoutThreads("cannot work here: \(error); \(advice)")
  exit(ExitCode.failure)
}

/// Writes a message to standard error directly.
func sayWithoutThreads(_ text: String) {
  try? writeAll(Array("watchrun: \(text)\n".utf8), to: STDERR_FILENO)
}
