#if os(Linux)

extension ProcessGroup {
  /// Whether a member is alive. A zombie counts as gone: where the process with ID 1 does not reap orphans,
  /// zombies stay forever.
  package var hasLivingMember: Bool {
    if isEmpty { return false }
    guard let processes = try? Descriptor.openDirectory("/proc") else { return true }
    var listing = DirectoryListing()
    try? listing.read(processes)
    var isAlive = false
    listing.forEach { process in
      guard !isAlive, let first = process.name.first, (0x30...0x39).contains(first) else { return }
      isAlive = isLivingMember(Path("/proc").appending(Array(process.name)).appending("stat"))
    }
    return isAlive
  }

  /// Parses `42 (name) S 1 42 …`: the state, the parent and the group follow the name, which may contain any
  /// byte.
  private func isLivingMember(_ path: Path) -> Bool {
    guard let file = try? Descriptor.open(path, O_RDONLY) else { return false }
    let number = file.number
    let line = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, retryingOnInterrupt { read(number, buffer.baseAddress, buffer.count) })
    }
    guard let nameEnd = line.lastIndex(of: UInt8(ascii: ")")) else { return false }
    let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 2, let group = pid_t(String(decoding: fields[2], as: UTF8.self)) else {
      return false
    }
    let isDead = fields[0].elementsEqual("Z".utf8) || fields[0].elementsEqual("X".utf8)
    return group == leader && !isDead
  }
}

#endif  // os(Linux)
