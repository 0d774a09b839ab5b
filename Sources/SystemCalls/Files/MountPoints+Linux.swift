#if os(Linux)

/// The mount points that this process sees.
package func mountPoints() -> [Path] {
  presentMounts().map(\.point)
}

/// The name of the file system on which an existing path lies, such as `ext4`.
package func fileSystemName(at path: Path) -> String? {
  guard let path = try? resolvedPath(path) else { return nil }
  let around = presentMounts().filter { path.isWithin($0.point) }
  // Of those mounted at the same place, the last one is in force.
  let longest = around.map(\.point.bytes.count).max()
  return around.last { $0.point.bytes.count == longest }?.name
}

/// A file system at a path.
package struct Mount: Hashable {
  /// The number that tells it from others at the same path.
  fileprivate let number: [UInt8]
  package let point: Path
  fileprivate let name: String
}

/// The mounts that this process sees, in the order in which they were made.
package func presentMounts() -> [Mount] {
  guard let table = try? fileContents(of: "/proc/self/mountinfo") else { return [] }
  // The fields are ID, parent, device, root, the mount point, with some bytes escaped in octal, options,
  // any number of optional fields, a hyphen, and the type.
  return table.split(separator: UInt8(ascii: "\n")).compactMap { line in
    let fields = line.split(separator: UInt8(ascii: " "))
    guard fields.count > 4 else { return nil }
    let rest = fields.drop { !$0.elementsEqual("-".utf8) }.dropFirst()
    let name = Path(bytes: rest.first.map(Array.init) ?? []).description
    return Mount(number: Array(fields[0]), point: Path(bytes: unescaped(fields[4])), name: name)
  }
}

/// Replaces escapes such as `\040`.
private func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
  var bytes: [UInt8] = []
  var rest = text
  while let byte = rest.popFirst() {
    let digits = rest.prefix(3)
    guard byte == UInt8(ascii: "\\"), digits.count == 3,
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
    else {
      bytes.append(byte)
      continue
    }
    let value = digits.reduce(0) { $0 * 8 + Int($1 - UInt8(ascii: "0")) }
    bytes.append(UInt8(truncatingIfNeeded: value))
    rest = rest.dropFirst(3)
  }
  return bytes
}

#endif  // os(Linux)
