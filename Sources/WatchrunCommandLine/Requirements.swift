import SystemCalls
import WatchrunSettings

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
