/// The descriptors above the standard ones that are not closed on exec, in ascending order. At the start of a
/// program, these are the ones that its caller has passed to it.
package func inheritableDescriptors() -> [Int32] {
  openDescriptors().filter { number in
    let flags = fcntl(number, F_GETFD)
    return flags != -1 && flags & FD_CLOEXEC == 0
  }
}

/// Whether a descriptor is open for writing.
package func isWritable(_ descriptor: Int32) -> Bool {
  let flags = fcntl(descriptor, F_GETFL)
  return flags != -1 && flags & O_ACCMODE != O_RDONLY
}

/// The open descriptors above the standard ones, and possibly others.
private func openDescriptors() -> [Int32] {
  for directory: Path in ["/proc/self/fd", "/dev/fd"] {
    guard let names = try? directoryNames(of: directory) else { continue }
    return names.compactMap { $0.string.flatMap { Int32($0) } }.filter { $0 > STDERR_FILENO }
      .sorted()
  }
  // No caller of a program on a system without these directories is known to pass higher ones.
  return Array(STDERR_FILENO + 1..<256)
}
