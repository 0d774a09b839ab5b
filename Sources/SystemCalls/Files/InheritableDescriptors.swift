/// The descriptors above the standard ones that are not closed on exec, in ascending order. At the start of a
/// program, these are the ones that its caller has passed to it.
package func inheritableDescriptors() -> [Int32] {
  let names =
    (try? directoryNames(of: "/proc/self/fd")) ?? (try? directoryNames(of: "/dev/fd"))
  // No caller of a program on a system without these directories is known to pass higher ones.
  let numbers = names?.compactMap { $0.string.flatMap { Int32($0) } } ?? Array(0..<256)
  return numbers.sorted().filter { number in
    let flags = number > STDERR_FILENO ? fcntl(number, F_GETFD) : -1
    return flags != -1 && flags & FD_CLOEXEC == 0
  }
}

/// Whether a descriptor is open for writing.
package func isWritable(_ descriptor: Int32) -> Bool {
  let flags = fcntl(descriptor, F_GETFL)
  return flags != -1 && flags & O_ACCMODE != O_RDONLY
}
