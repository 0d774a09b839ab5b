#if os(Linux)

/// The process that listens at a TCP port, as far as `/proc` shows it to this user: its ID and its name.
package func listener(atPort port: UInt16) -> (process: pid_t, name: String)? {
  let tables: [Path] = ["/proc/net/tcp", "/proc/net/tcp6"]
  let sockets = tables.flatMap { table -> [Path] in
    guard let text = try? fileContents(of: table) else { return [] }
    return text.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap {
      listeningSocket($0, at: port)
    }
  }
  if sockets.isEmpty { return nil }
  for name in (try? directoryNames(of: "/proc")) ?? [] {
    guard let process = name.string.flatMap({ pid_t($0) }) else { continue }
    let directory = Path("/proc/\(process)")
    let descriptors = directory.appending("fd")
    for number in (try? directoryNames(of: descriptors)) ?? [] {
      guard let target = try? linkTarget(of: descriptors.appending(number.bytes)),
        sockets.contains(target)
      else { continue }
      let comm = (try? fileContents(of: directory.appending("comm"))) ?? nil
      let name = Path(bytes: (comm ?? []).prefix { $0 != UInt8(ascii: "\n") })
      return (process, name.description)
    }
  }
  return nil
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
