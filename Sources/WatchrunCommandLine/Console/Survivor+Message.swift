import SystemCalls

extension Survivor? {
  /// The message that a run could not be stopped.
  ///
  /// - Parameters:
  ///   - run: The run, as the object of a sentence.
  ///   - isAwaited: Whether the next run waits for the process. Otherwise it is left running.
  func message(of run: String, isAwaited: Bool) -> String {
    let process = self.map { "\($0.name) (process \($0.process))" } ?? "a process"
    guard let self, let owner = self.owner else {
      return "cannot stop \(run): the kernel holds \(process), also after SIGKILL; "
        + (isAwaited ? "the next run waits until it has gone" : "it is left behind")
    }
    let sudo = owner == "root" ? "sudo" : "sudo -u \(owner)"
    return "cannot stop \(run): \(process) belongs to \(owner); "
      + (isAwaited
        ? "the next run waits until it has ended; to have it stopped: \(sudo) watchrun …"
        : "it keeps running; to end it: \(sudo) kill \(self.process)")
  }
}
