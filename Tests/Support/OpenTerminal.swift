import SystemCalls

/// A terminal: our end, the programs' end, and where they open it.
///
/// Tests run side by side and start processes: it is inherited by none of them, not even for the moment
/// between two calls. While they had it, it would not be hung up.
package func openPseudoTerminal() throws(SystemError) -> (
  ours: Int32, theirs: Int32, path: String
) {
  let ours = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY)
  var (isLocked, number): (Int32, UInt32) = (0, 0)
  let file = ours.number
  _ = try checked("ioctl") { ioctl(file, unlock, &isLocked) }
  _ = try checked("ioctl") { ioctl(file, getNumber, &number) }
  let path = "/dev/pts/\(number)"
  let theirs = try Descriptor.open(Path(path), O_RDWR | O_NOCTTY)
  return (ours.release(), theirs.release(), path)
}

// TIOCSPTLCK and TIOCGPTN, which Swift does not see.
private let unlock: UInt = 0x4004_5431
private let getNumber: UInt = 0x8004_5430
