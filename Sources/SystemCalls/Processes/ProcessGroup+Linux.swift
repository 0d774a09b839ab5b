#if os(Linux)

extension ProcessGroup {
  /// Whether a member is alive. A zombie counts as gone: where the process with ID 1 does not reap orphans,
  /// zombies stay forever.
  package var hasLivingMember: Bool {
    if isEmpty { return false }
    guard let names = try? directoryNames(of: "/proc") else { return true }
    return names.contains { name in
      name.bytes.first.map { (0x30...0x39).contains($0) } ?? false
        && isLivingMember(Path("/proc").appending(name.bytes).appending("stat"))
    }
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
