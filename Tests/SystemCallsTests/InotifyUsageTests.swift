#if os(Linux)

import Testing

@testable import SystemCalls

struct InotifyUsageTests {
  @Test func `only processes of the user count towards its limits, and the largest is first`() {
    let usage = InotifyUsage(
      limits: .init(watches: 10, instances: 3, events: nil),
      processes: [
        .init(pid: 3, name: "small", instances: 1, watches: 2, isOwn: true),
        .init(pid: 2, name: "foreign", instances: 5, watches: 70, isOwn: false),
        .init(pid: 1, name: "large", instances: 2, watches: 40, isOwn: true),
      ], unreadableCount: 0)
    #expect(usage.processes.map(\.pid) == [2, 1, 3])
    #expect(usage.used == (42, 3))
  }

  @Test func `the limits are those of the kernel, and this process does not count`() throws {
    let inotify = try Inotify()
    let usage = try #require(InotifyUsage.current())
    #expect(usage.limits.watches ?? 0 > 0 && usage.limits.instances ?? 0 > 0)
    #expect(usage.limits.events == Inotify.queueLimit)
    #expect(!usage.processes.contains { $0.pid == getpid() })
    #expect(usage.processes.allSatisfy { $0.instances > 0 })
    withExtendedLifetime(inotify) {}
  }
}

#endif  // os(Linux)
