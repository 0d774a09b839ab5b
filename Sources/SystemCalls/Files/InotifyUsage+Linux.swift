#if os(Linux)

extension InotifyUsage {
  /// The present usage by other processes; `nil` where there is no inotify.
  package static func current() -> InotifyUsage? {
    var processes: [Process] = []
    var unreadableCount = 0
    for name in (try? directoryNames(of: "/proc")) ?? [] {
      guard let pid = pid_t(name.description), pid != getpid() else { continue }
      let directory = Path("/proc/\(pid)")
      do throws(SystemError) {
        if let process = try process(pid, in: directory) { processes.append(process) }
      } catch {
        // Kernel threads have no command line.
        let hasCommand = text(of: directory.appending("cmdline"))?.isEmpty == false
        if !error.isNotFound && hasCommand { unreadableCount += 1 }
      }
    }
    return InotifyUsage(limits: .current, processes: processes, unreadableCount: unreadableCount)
  }

  /// A process that has inotify instances; `nil` if it has none.
  private static func process(_ pid: pid_t, in directory: Path) throws(SystemError) -> Process? {
    var (instances, watches) = (0, 0)
    for number in try directoryNames(of: directory.appending("fd")) {
      let file = directory.appending("fd").appending(number.bytes)
      guard let target = try? linkTarget(of: file), target == "anon_inode:inotify" else { continue }
      instances += 1
      let information = text(of: directory.appending("fdinfo").appending(number.bytes)) ?? []
      // A line for each watch.
      watches += information.split(separator: UInt8(ascii: "\n")).count {
        $0.starts(with: "inotify ".utf8)
      }
    }
    if instances == 0 { return nil }
    let line = text(of: directory.appending("comm")) ?? []
    let name = String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return Process(
      pid: pid, name: name, instances: instances, watches: watches,
      isOwn: effectiveUser(of: directory) == geteuid())
  }

  /// The user to whom instances are charged: the second number of a line such as `Uid: 0 0 0 0`.
  private static func effectiveUser(of directory: Path) -> uid_t? {
    let lines = (text(of: directory.appending("status")) ?? []).split(separator: UInt8(ascii: "\n"))
    let line = lines.first { $0.starts(with: "Uid:".utf8) }
    let fields = line?.split(separator: UInt8(ascii: "\t")) ?? []
    return fields.count > 2 ? uid_t(String(decoding: fields[2], as: UTF8.self)) : nil
  }

  fileprivate static func text(of path: Path) -> [UInt8]? {
    (try? fileContents(of: path)) ?? nil
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
    let limits = [
      number(in: "/proc/sys/fs/inotify/max_\(system)"), number(in: "/proc/sys/user/max_\(user)"),
    ]
    return limits.compactMap { $0 }.min()
  }

  private static func number(in file: String) -> Int? {
    let line = InotifyUsage.text(of: Path(file))?.prefix { $0 != UInt8(ascii: "\n") }
    return line.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
  }
}

#endif  // os(Linux)
