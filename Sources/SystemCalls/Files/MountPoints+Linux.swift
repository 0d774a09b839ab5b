#if os(Linux)

/// The mount points that this process sees.
package func mountPoints() -> [Path] {
  guard let table = try? fileContents(of: "/proc/self/mountinfo") else { return [] }
  // The fields are ID, parent, device, root, and the mount point, with some bytes escaped in octal.
  return table.split(separator: UInt8(ascii: "\n")).compactMap { line in
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
    return fields.count > 4 ? Path(bytes: unescaped(fields[4])) : nil
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
