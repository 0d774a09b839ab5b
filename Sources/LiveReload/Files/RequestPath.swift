import SystemCalls

/// The path of a request, as names below the served directory. It cannot leave the directory by
/// `..`; symbolic links are checked elsewhere.
struct RequestPath: Hashable, Sendable {
  /// The decoded names. None is empty, `.` or `..`, or contains a slash, a backslash or a NUL. They need not be UTF-8.
  private(set) var components: [[UInt8]] = []
  /// Whether it names a directory: it ends with a slash, or a `.`.
  private(set) var endsWithSlash = true

  /// Parses a request target such as `/a%20b/?c#d`. Percent signs are decoded once. `nil` if it does not begin with a
  /// slash, has a `..`, a NUL, a backslash or an encoded slash, or if a `%` is not followed by two hexadecimal digits.
  init?(target: some Collection<UInt8>) {
    let path = target.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    if path.first != UInt8(ascii: "/") { return nil }
    for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let name = part.percentDecoded, !name.elementsEqual("..".utf8),
        !name.contains(where: { $0 == 0 || "/\\".utf8.contains($0) })
      else { return nil }
      endsWithSlash = name.isEmpty || name.elementsEqual(".".utf8)
      if !endsWithSlash { components.append(name) }
    }
  }

  /// The path of the file in the served directory.
  func file(in root: Path) -> Path { components.reduce(root) { $0.appending($1) } }

  /// Whether a name other than `.well-known` begins with a dot.
  var hasDotFile: Bool { components.contains { Self.isDotFile($0) } }

  /// Whether a name begins with a dot, except `.well-known`.
  static func isDotFile(_ name: some Collection<UInt8>) -> Bool {
    name.first == UInt8(ascii: ".") && !name.elementsEqual(".well-known".utf8)
  }
}
