import Foundation

/// Becomes another program. SwiftPM stops the plugin by its process id, which so is that of `watchrun`.
func replaceProcess(with program: String, arguments: [String]) throws -> Never {
  try endWithSwiftPM()
  // A plugin's output is a pipe to SwiftPM, which holds it back. The program writes where SwiftPM does, with
  // colours if that is a terminal. Keys are for SwiftPM's process group, of which the plugin is no part.
  for descriptor: Int32 in 1...2 {
    let output = open("/proc/\(getppid())/fd/\(descriptor)", O_WRONLY | O_APPEND | O_NOCTTY)
    if output >= 0 { dup2(output, descriptor) }
  }
  dup2(open("/dev/null", O_RDONLY), 0)
  for descriptor: Int32 in 3..<1024 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
  // Threads of the concurrency runtime block signals, and the mask outlives the program.
  var none = sigset_t()
  sigemptyset(&none)
  pthread_sigmask(SIG_SETMASK, &none, nil)

  var words = ([program] + arguments).map { strdup($0) }
  words.append(nil)
  execvp(program, words)
  throw Failure("cannot start \(program): \(String(cString: strerror(errno)))")
}

/// Starts a process that stops this one when SwiftPM has ended without doing so, as when the terminal is
/// closed: SwiftPM's messages arrive through a pipe, the only one that is read here.
private func endWithSwiftPM() throws {
  let messages = (Int32(0)..<1024).first { descriptor in
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
      && fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDONLY
  }
  guard let messages else { return }
  let guardian = Process()
  guardian.executableURL = URL(fileURLWithPath: "/bin/sh")
  guardian.arguments = ["-c", "cat; kill \(getpid())"]
  guardian.standardInput = FileHandle(fileDescriptor: messages)
  guardian.standardOutput = FileHandle.nullDevice
  guardian.standardError = FileHandle.nullDevice
  try guardian.run()
}
