/// Reaps the children of this process that have ended, except those with these process IDs. A process
/// with ID 1 inherits orphans, and so does one that adopts them; nothing else reaps them. Returns their
/// number.
package func reapOrphans(keeping kept: Set<pid_t>) -> Int {
  var count = 0
  while true {
    let process = csystem_ended_child()
    // The kernel returns the same child again until it is reaped, so the rest has to wait.
    if process <= 0 || kept.contains(process) { return count }
    waitpid(process, nil, WNOHANG)
    count += 1
  }
}
