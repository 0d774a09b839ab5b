import Foundation
import SystemCalls

/// Reads properties of processes from `/proc`.
enum ProcessTable {
  /// All processes there are.
  static var all: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }
  }

  /// Whether the process runs. A zombie does not count.
  static func isAlive(_ pid: pid_t) -> Bool {
    guard let state = fields(of: pid)?.first else { return false }
    return state != "Z" && state != "X"
  }

  /// The letter of its state, such as `T` for stopped and `Z` for a zombie; `nil` if it does not exist.
  static func state(of pid: pid_t) -> String? {
    fields(of: pid)?.first
  }

  /// Its name, which may differ from its program's.
  static func name(of pid: pid_t) -> String? {
    guard let name = try? fileContents(of: Path("/proc/\(pid)/comm")) else { return nil }
    return String(decoding: name.dropLast(), as: UTF8.self)
  }

  /// Its memory with its share of shared pages, in KiB.
  static func proportionalMemory(of pid: pid_t) -> Int {
    let text = (try? fileContents(of: Path("/proc/\(pid)/smaps_rollup"))) ?? []
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("Pss:") }
    return line.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? .max
  }

  /// The process's children.
  static func children(of parent: pid_t) -> [pid_t] {
    all.filter { fields(of: $0)?[1] == "\(parent)" }
  }

  /// The children that have ended and that the process has not waited for.
  static func zombies(of parent: pid_t) -> [pid_t] {
    all.filter { pid in
      guard let fields = fields(of: pid) else { return false }
      return fields[0] == "Z" && fields[1] == "\(parent)"
    }
  }

  /// The number of inotify watches of the process.
  static func watchCount(of pid: pid_t) -> Int {
    descriptors(of: pid).reduce(0) { count, descriptor in
      let info = (try? fileContents(of: Path("/proc/\(pid)/fdinfo/\(descriptor)"))) ?? []
      let lines = String(decoding: info, as: UTF8.self).split(separator: "\n")
      return count + lines.count { $0.hasPrefix("inotify ") }
    }
  }

  /// The number of inotify instances of the process.
  static func inotifyInstances(of pid: pid_t) -> Int {
    descriptors(of: pid).count { descriptor in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(pid)/fd/\(descriptor)")
      return target?.contains("inotify") == true
    }
  }

  /// The processor time of the process, in clock ticks.
  static func processorTime(of pid: pid_t) -> Int {
    // The 14th and 15th of all fields, of which two are missing here.
    guard let fields = fields(of: pid, count: 13) else { return 0 }
    return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
  }

  /// How often each thread of the process has been woken up.
  static func wakeups(of pid: pid_t) -> [String: Substring] {
    let tasks = "/proc/\(pid)/task"
    var counts: [String: Substring] = [:]
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
      let text = (try? fileContents(of: Path("\(tasks)/\(thread)/status"))) ?? []
      counts[thread] = String(decoding: text, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("voluntary_ctxt_switches") }
    }
    return counts
  }

  /// The descriptors that the process has open.
  static func descriptors(of pid: pid_t) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
  }

  /// Whether the descriptor of the process is closed when it executes another program.
  static func isClosedOnExec(_ descriptor: String, of pid: pid_t) -> Bool {
    flags(of: descriptor, of: pid) & O_CLOEXEC != 0
  }

  /// The flags of an open descriptor of the process; all for one that is not open.
  static func flags(of descriptor: String, of pid: pid_t) -> Int32 {
    let info = (try? fileContents(of: Path("/proc/\(pid)/fdinfo/\(descriptor)"))) ?? []
    let lines = String(decoding: info, as: UTF8.self).split(separator: "\n")
    let flags = lines.first { $0.hasPrefix("flags:") }?.split(separator: "\t").last
    return flags.flatMap { Int32($0, radix: 8) } ?? ~0
  }

  /// The processes with this variable in their initial environment.
  static func processes(withVariable variable: String) -> [pid_t] {
    let wanted = Array(variable.utf8)
    return all.filter { pid in
      let environment = (try? fileContents(of: Path("/proc/\(pid)/environ"))) ?? []
      var start = 0
      while start < environment.count {
        let end = environment.index(of: 0, from: start) ?? environment.count
        if end - start == wanted.count && environment[start..<end] == wanted[...] { return true }
        start = end + 1
      }
      return false
    }
  }

  /// The first fields after the name in `/proc/PID/stat`: the state, the parent, the group ….
  private static func fields(of pid: pid_t, count: Int = 2) -> [String]? {
    guard let stat = try? fileContents(of: Path("/proc/\(pid)/stat")) else { return nil }
    // A name may hold any character.
    var nameEnd: Int?
    while let next = stat.index(of: UInt8(ascii: ")"), from: nameEnd.map { $0 + 1 } ?? 0) {
      nameEnd = next
    }
    guard let nameEnd else { return nil }
    var (fields, start): ([String], Int) = ([], nameEnd + 2)
    while fields.count < count, let end = stat.index(of: UInt8(ascii: " "), from: start) {
      fields.append(String(decoding: stat[start..<end], as: UTF8.self))
      start = end + 1
    }
    return fields.count == count ? fields : nil
  }
}
