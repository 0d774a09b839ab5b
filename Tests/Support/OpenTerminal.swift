import SystemCalls

/// A pseudo terminal: the test's end, the programs' end, and its path.
///
/// Its descriptors are never inherited, not even for a moment, because tests that run in parallel
/// start processes, which would keep the terminal from hanging up.
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

// TIOCSPTLCK and TIOCGPTN, which Swift does not import.
private let unlock: UInt = 0x4004_5431
private let getNumber: UInt = 0x8004_5430
