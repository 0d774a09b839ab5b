#if os(Linux)

/// The process that listens at a TCP port, as far as `/proc` shows it to this user: its ID and its name. Of several,
/// one that has not inherited the socket from another.
package func listener(atPort port: UInt16) -> (process: pid_t, name: String)? {
  let processes = listeningProcesses(atPort: port, after: nil).processes
  return processes.sorted().first { $0.parent.map(processes.contains) != true }
    .map { ($0, $0.programName) }
}

/// The processes that listen at a TCP port.
///
/// - Parameter former: What was found before. Only processes that have started since are searched if the
///   sockets are the same.
package func listeningProcesses(
  atPort port: UInt16, after former: ListeningProcesses?
) -> ListeningProcesses {
  let sockets = listeningSockets(atPort: port)
  let running = Set(runningProcesses() ?? [])
  let known = former?.sockets == sockets ? former : nil
  let fresh = sockets.isEmpty ? [] : running.subtracting(known?.searched ?? [])
  let processes = Set(fresh.filter { $0.hasOpen(sockets) })
    .union(known?.processes.intersection(running) ?? [])
  return ListeningProcesses(
    sockets: sockets, processes: processes,
    lineage: processes.lineage, searched: running)
}

extension pid_t {
  /// Whether the process has one of the sockets open.
  fileprivate func hasOpen(_ sockets: Set<Path>) -> Bool {
    ((try? descriptors()) ?? []).contains { sockets.contains($0.target) }
  }

  fileprivate var parent: pid_t? {
    ProcessStatus(processFile(directory.appending("stat")))?.parent
  }

}

extension Set<pid_t> {
  /// The processes and the leaders of their groups, which orphans keep, with all ancestors.
  fileprivate var lineage: Self {
    let descendants = union(map { getpgid($0) })
    return descendants.reduce(into: descendants) { lineage, process in
      var process = process
      while let parent = process.parent, lineage.insert(parent).inserted { process = parent }
    }
  }
}

/// The names by which descriptors refer to the sockets that listen at a port.
private func listeningSockets(atPort port: UInt16) -> Set<Path> {
  let tables: [Path] = ["/proc/net/tcp", "/proc/net/tcp6"]
  let lines = tables.flatMap {
    processFile($0).split(separator: UInt8(ascii: "\n")).dropFirst()
  }
  return Set(lines.compactMap { listeningSocket($0, at: port) })
}

/// The name by which descriptors refer to the socket in a line such as
/// `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 1 …`, if it
/// listens at the port.
private func listeningSocket(_ line: ArraySlice<UInt8>, at port: UInt16) -> Path? {
  let fields = line.split(separator: UInt8(ascii: " "))
  guard fields.count > 9, fields[3].elementsEqual("0A".utf8),
    let number = fields[1].split(separator: UInt8(ascii: ":")).last,
    UInt16(String(decoding: number, as: UTF8.self), radix: 16) == port
  else { return nil }
  return Path("socket:[\(String(decoding: fields[9], as: UTF8.self))]")
}

#endif  // os(Linux)
