#if os(Linux)

extension InotifyUsage {
  /// The present usage by other processes; `nil` where there is no inotify.
  package static func current() -> InotifyUsage? {
    var processes: [Process] = []
    var unreadableCount = 0
    for pid in runningProcesses() ?? [] where pid != getpid() {
      do throws(SystemError) {
        if let process = try process(pid) { processes.append(process) }
      } catch {
        // Kernel threads have no command line.
        let hasCommand = !processFile(pid.directory.appending("cmdline")).isEmpty
        if !error.isNotFound && hasCommand { unreadableCount += 1 }
      }
    }
    return InotifyUsage(limits: .current, processes: processes, unreadableCount: unreadableCount)
  }

  /// A process that has inotify instances; `nil` if it has none.
  private static func process(_ pid: pid_t) throws(SystemError) -> Process? {
    var (instances, watches) = (0, 0)
    for (number, target) in try pid.descriptors() where target == "anon_inode:inotify" {
      instances += 1
      let information = processFile(pid.directory.appending("fdinfo").appending(number.bytes))
      // A line for each watch.
      watches += information.split(separator: UInt8(ascii: "\n")).count {
        $0.starts(with: "inotify ".utf8)
      }
    }
    if instances == 0 { return nil }
    return Process(
      pid: pid, name: pid.programName, instances: instances, watches: watches,
      isOwn: pid.users?.effective == geteuid())
  }
}

extension InotifyUsage.Limits {
  fileprivate static var current: Self {
    Self(
      watches: smaller("user_watches", "inotify_watches"),
      instances: smaller("user_instances", "inotify_instances"), events: Inotify.queueLimit)
  }

  /// In a user namespace, there are two limits.
  private static func smaller(_ system: String, _ user: String) -> Int? {
    ["/proc/sys/fs/inotify/max_\(system)", "/proc/sys/user/max_\(user)"]
      .compactMap { Int(processLine(Path($0))) }.min()
  }
}

#endif  // os(Linux)
