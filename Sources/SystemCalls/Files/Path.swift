/// A path: bytes, not characters, as in the kernel.
///
/// A file name may contain any byte but NUL and `/`. Paths are equal if their bytes are: `café` in composed
/// and in decomposed form are two files and two paths.
public struct Path: Hashable, Sendable, CustomStringConvertible {
  /// The bytes, without a terminating NUL.
  public let bytes: [UInt8]

  /// Creates a path from bytes, up to the first NUL.
  public init(bytes: some Sequence<UInt8>) {
    let all = Array(bytes)
    self.bytes = all.indexOfNUL.map { Array(all[..<$0]) } ?? all
  }

  /// Creates a path from the UTF-8 bytes of a string.
  public init(_ string: String) {
    self.init(bytes: string.utf8)
  }

  static let slash = UInt8(ascii: "/")

  // All public members are here, and not in extensions: the documentation of modules that export the
  // type again has no others.

  // MARK: - Parts

  /// Whether the path starts with a slash.
  public var isAbsolute: Bool { bytes.first == Path.slash }

  /// The names between slashes, without empty ones.
  public var components: [ArraySlice<UInt8>] {
    bytes.split(separator: Path.slash)
  }

  /// The bytes after the last slash; all bytes if there is none.
  public var lastComponent: ArraySlice<UInt8> {
    bytes.lastIndex(of: Path.slash).map { bytes[($0 + 1)...] } ?? bytes[...]
  }

  /// The parent directory; `nil` for `/` and for a name without a slash.
  public var parent: Path? {
    guard let cut = bytes.lastIndex(of: Path.slash), bytes.count > 1 else { return nil }
    return Path(bytes: bytes[..<max(cut, 1)])
  }

  /// This path, a slash if necessary, and `name`.
  public func appending(_ name: some Collection<UInt8>) -> Path {
    let needsSlash = !bytes.isEmpty && bytes.last != Path.slash
    return Path(bytes: bytes + (needsSlash ? [Path.slash] : []) + name)
  }

  /// This path, a slash if necessary, and `name`.
  public func appending(_ name: String) -> Path {
    appending(Array(name.utf8))
  }

  /// Whether this is `ancestor` or a descendant of it. Whole names are compared: `/ab` is not within `/a`.
  public func isWithin(_ ancestor: Path) -> Bool {
    let prefix = ancestor.bytes
    guard bytes.starts(with: prefix) else { return false }
    return bytes.count == prefix.count || prefix.last == Path.slash
      || bytes[prefix.count] == Path.slash
  }

  /// The path relative to `directory` if it is within, as people are shown it.
  package func shown(in directory: Path) -> Path { relative(to: directory) ?? self }

  /// This path and all its ancestors, from the inside out.
  package var lineage: some Sequence<Path> { sequence(first: self) { $0.parent } }

  /// The path relative to `ancestor`, `.` for `ancestor` itself; `nil` if it is not within.
  public func relative(to ancestor: Path) -> Path? {
    guard isWithin(ancestor) else { return nil }
    if bytes.count == ancestor.bytes.count { return "." }
    let cut = ancestor.bytes.count + (ancestor.bytes.last == Path.slash ? 0 : 1)
    return Path(bytes: bytes[cut...])
  }

  /// The absolute path, relative to `base`, without `.`, `..` and repeated slashes.
  ///
  /// `..` removes the name before it, as in a shell's `cd`. Symbolic links are not resolved.
  public func absolute(from base: Path) -> Path {
    let start = isAbsolute ? [] : base.components
    var names: [ArraySlice<UInt8>] = []
    for name in start + components {
      if name.elementsEqual(".".utf8) { continue }
      if name.elementsEqual("..".utf8) {
        _ = names.popLast()
      } else {
        names.append(name)
      }
    }
    // A loop, because creating the generic type of a joined sequence takes longer than this function.
    var bytes: [UInt8] = names.isEmpty ? [Path.slash] : []
    for name in names {
      bytes.append(Path.slash)
      bytes.append(contentsOf: name)
    }
    return Path(bytes: bytes)
  }

  /// The last name as a string; `nil` if it is empty or not UTF-8.
  public var name: String? {
    lastComponent.isEmpty ? nil : String(validating: lastComponent, as: UTF8.self)
  }

  /// The part of the name after its last dot, as in `swift`; `nil` if there is none, or if it is not
  /// UTF-8. A name that only begins with a dot, such as `.gitignore`, has no extension.
  public var `extension`: String? {
    let name = lastComponent
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    return String(validating: name[(dot + 1)...], as: UTF8.self)
  }

  // MARK: - Conversions

  /// Calls `body` with the bytes as a C string, which is valid until it returns: for the system calls
  /// and the file types of other libraries.
  @inlinable
  public func withCString<Result, Failure>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) {
      (buffer: UnsafeMutableBufferPointer<CChar>) throws(Failure) -> Result in
      guard let start = buffer.baseAddress else { preconditionFailure("holds at least the NUL") }
      UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
      start[bytes.count] = 0
      return try body(start)
    }
  }

  /// The path as a string; `nil` if it is not UTF-8.
  public var string: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The path for display: invalid UTF-8 is replaced, and control characters are escaped as `\n` or
  /// `\u{1B}`, so that a file name cannot send commands to a terminal. Do not open files by it.
  public var description: String { bytes.printable }
}

// A global function, because a module can export it again, unlike an operator of a type.
/// A path, a slash, and a name.
public func / (path: Path, name: String) -> Path {
  path.appending(name)
}

extension [UInt8] {
  /// The index of the first NUL.
  fileprivate var indexOfNUL: Int? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return memchr(start, 0, bytes.count).map { UnsafeRawPointer($0) - start }
    }
  }
}

// Each is one operation on all bytes: paths are compared and hashed for every event.
extension Path {
  /// Compares the bytes.
  public static func == (left: Path, right: Path) -> Bool {
    guard left.bytes.count == right.bytes.count else { return false }
    return left.bytes.withUnsafeBytes { left in
      right.bytes.withUnsafeBytes { right in
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else {
          return true
        }
        return memcmp(leftStart, rightStart, left.count) == 0
      }
    }
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension Path: ExpressibleByStringLiteral {
  /// Creates a path from the UTF-8 bytes of a literal.
  ///
  /// A static string, so that in `names.map(Path.init)` only one initializer takes a string.
  public init(stringLiteral value: StaticString) {
    self = value.withUTF8Buffer { Path(bytes: $0) }
  }
}

extension Path: Comparable {
  /// Orders paths by their bytes.
  public static func < (left: Path, right: Path) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
