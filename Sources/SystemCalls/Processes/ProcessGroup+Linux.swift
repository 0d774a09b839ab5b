#if os(Linux)

extension ProcessGroup {
  /// Whether a member is alive. A zombie counts as gone: where the process with ID 1 does not reap orphans,
  /// zombies stay forever.
  package var hasLivingMember: Bool {
    if isEmpty { return false }
    if csystem_has_living_descendant(leader) { return true }
    // Members may be no descendants of this process, unless it adopts orphans.
    guard let processes = Self.processes else { return true }
    return processes.contains { isLivingMember($0) }
  }

  /// A living member, preferably one that accepts no signals from this process.
  package var survivor: Survivor? {
    let members = (Self.processes ?? []).filter { isLivingMember($0) }
    let foreign = members.first { kill($0, 0) == -1 && errno == EPERM }
    guard let member = foreign ?? members.first else { return nil }
    let directory = Path("/proc/\(member)")
    let name = (try? fileContents(of: directory.appending("comm"))) ?? nil
    return Survivor(
      process: member,
      name: Path(bytes: (name ?? []).prefix { $0 != UInt8(ascii: "\n") }).description,
      owner: foreign == nil ? nil : Self.owner(of: directory))
  }

  /// The IDs of all processes; `nil` if the kernel does not tell them.
  private static var processes: [pid_t]? {
    (try? directoryNames(of: "/proc"))?.compactMap { name in
      name.bytes.first.map { (0x30...0x39).contains($0) } ?? false
        ? pid_t(String(decoding: name.bytes, as: UTF8.self)) : nil
    }
  }

  /// The user as whom the process of a directory of `/proc` runs, from a line such as `Uid:	0	0	0	0`: the real
  /// one decides who may send it signals.
  private static func owner(of directory: Path) -> String {
    let status = ((try? fileContents(of: directory.appending("status"))) ?? nil) ?? []
    for line in status.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: "\t"))
      guard fields.count > 1, fields[0].elementsEqual("Uid:".utf8),
        let user = UInt32(String(decoding: fields[1], as: UTF8.self))
      else { continue }
      return userName(of: user) ?? "user \(user)"
    }
    return "another user"
  }

  /// Parses `42 (name) S 1 42 …`: the state, the parent and the group follow the name, which may contain any
  /// byte.
  private func isLivingMember(_ process: pid_t) -> Bool {
    guard let file = try? Descriptor.open(Path("/proc/\(process)/stat"), O_RDONLY) else {
      return false
    }
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
