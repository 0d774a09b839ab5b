/// The limits of inotify, and the processes that use it.
package struct InotifyUsage: Hashable, Sendable {
  /// The limits of a user; `nil` where the kernel does not say.
  package struct Limits: Hashable, Sendable {
    package let watches: Int?
    package let instances: Int?
    /// The number of events that are queued for an instance.
    package let events: Int?
  }

  /// A process that has inotify instances.
  package struct Process: Hashable, Sendable {
    package let pid: pid_t
    package let name: String
    package let instances: Int
    package let watches: Int
    /// Whether it counts towards the limits of the current user.
    package let isOwn: Bool
  }

  package let limits: Limits
  /// The processes whose descriptors can be read, those with the most watches first.
  package let processes: [Process]
  /// The number of processes whose descriptors cannot be read: those of other users.
  package let unreadableCount: Int

  init(limits: Limits, processes: [Process], unreadableCount: Int) {
    self.limits = limits
    self.processes = processes.sorted { ($1.watches, $0.pid) < ($0.watches, $1.pid) }
    self.unreadableCount = unreadableCount
  }

  /// The watches and instances that count towards the limits of the current user.
  package var used: (watches: Int, instances: Int) {
    let own = processes.filter(\.isOwn)
    return (own.map(\.watches).reduce(0, +), own.map(\.instances).reduce(0, +))
  }
}
