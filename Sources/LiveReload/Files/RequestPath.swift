/// The path of a request, as names below the served directory. It cannot leave the directory by
/// `..`; symbolic links are checked elsewhere.
struct RequestPath: Hashable, Sendable {
  /// The reasons for which a path is refused.
  enum Refusal: Error, Hashable {
    /// It does not begin with a slash.
    case notAbsolute
    /// A `%` is not followed by two hexadecimal digits.
    case malformedEscape
    /// It has a NUL, a backslash or an encoded slash.
    case forbiddenByte
    /// It has a `..`.
    case parentReference
  }

  /// The decoded names. None is empty, `.` or `..`, or contains a slash, a backslash or a NUL. They
  /// need not be UTF-8.
  private(set) var components: [[UInt8]] = []
  /// Whether it names a directory: it ends with a slash, or a `.`.
  private(set) var endsWithSlash = true

  /// Parses a request target such as `/a%20b/?c#d`. Percent signs are decoded once.
  init(target: some Collection<UInt8>) throws(Refusal) {
    let path = target.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard path.first == UInt8(ascii: "/") else { throw .notAbsolute }
    for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      let name = try Self.decode(part)
      if name.elementsEqual("..".utf8) { throw .parentReference }
      endsWithSlash = name.isEmpty || name.elementsEqual(".".utf8)
      if !endsWithSlash { components.append(name) }
    }
  }

  /// Whether a name other than `.well-known` begins with a dot.
  var hasDotFile: Bool { components.contains { Self.isDotFile($0) } }

  /// Whether a name begins with a dot, except `.well-known`.
  static func isDotFile(_ name: some Collection<UInt8>) -> Bool {
    name.first == UInt8(ascii: ".") && !name.elementsEqual(".well-known".utf8)
  }

  private static func decode(_ part: some Collection<UInt8>) throws(Refusal) -> [UInt8] {
    guard let name = part.percentDecoded else { throw .malformedEscape }
    if name.contains(where: { $0 == 0 || "/\\".utf8.contains($0) }) { throw .forbiddenByte }
    return name
  }
}
