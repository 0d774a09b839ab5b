/// Locks a file, which is created if necessary, against other processes until the descriptor is closed. Waits for them
/// for a fifth of a second or a little more at most: a process that is being started shares the lock until it executes
/// its program, which takes long on a busy machine.
package func lockFile(_ path: Path) throws(SystemError) -> Descriptor {
  let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
  let number = file.number
  var attempts = 0
  while flock(number, LOCK_EX | LOCK_NB) != 0 {
    attempts += 1
    if attempts == 200 { throw .last("flock", path: path) }
    usleep(1000)
  }
  return file
}
