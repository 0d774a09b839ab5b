#if os(Linux)

extension ProcessGroup {
  /// Whether a member is alive. A zombie counts as gone: where the process with ID 1 does not reap orphans,
  /// zombies stay forever.
  package var hasLivingMember: Bool {
    if isEmpty { return false }
    if csystem_has_living_descendant(leader) { return true }
    // Members may be no descendants of this process, unless it adopts orphans.
    return livingMembers(atMost: 1)?.isEmpty != true
  }

  /// A living member, preferably one that accepts no signals from this process.
  package var survivor: Survivor? {
    let members = livingMembers(atMost: 1024) ?? []
    let foreign = members.first { kill($0, 0) == -1 && errno == EPERM }
    guard let member = foreign ?? members.first else { return nil }
    let owner = foreign.map { foreign in
      foreign.users.map { userName(of: $0.real) ?? "user \($0.real)" } ?? "another user"
    }
    return Survivor(
      process: member, name: member.programName, owner: owner)
  }

  /// `nil` if the kernel does not tell.
  private func livingMembers(atMost capacity: Int) -> [pid_t]? {
    var members = [pid_t](repeating: 0, count: capacity)
    let count = csystem_living_members(leader, &members, Int32(capacity))
    return count < 0 ? nil : Array(members.prefix(Int(count)))
  }
}

/// The name of a user of this system; `nil` if there is none.
private func userName(of id: uid_t) -> String? {
  var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { text in
    guard let start = text.baseAddress else { return nil }
    getpwuid_r(id, &entry, start, text.count, &found)
    return found?.pointee.pw_name.map { Path(cString: $0).description }
  }
}

#endif  // os(Linux)
