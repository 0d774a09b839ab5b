/// A file's path as the kernel has it: bytes, not characters.
///
/// A name may hold any byte but NUL and `/`. Two paths are equal when their bytes are; `café` in its
/// composed and its decomposed spelling are two files, and so two paths.
public struct Path: Hashable, Sendable {
  /// The bytes, without a terminating NUL.
  public let bytes: [UInt8]

  /// A path of these bytes. What follows a NUL, which no path can hold, is left out.
  public init(bytes: some Sequence<UInt8>) {
    let all = Array(bytes)
    self.bytes = all.indexOfNUL.map { Array(all[..<$0]) } ?? all
  }

  /// A path of the string's UTF-8.
  public init(_ string: String) {
    self.init(bytes: string.utf8)
  }

  static let slash = UInt8(ascii: "/")
}

extension [UInt8] {
  /// Where the first NUL is.
  fileprivate var indexOfNUL: Int? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return memchr(start, 0, bytes.count).map { UnsafeRawPointer($0) - start }
    }
  }
}

// Both as one operation on all the bytes: a path is compared and hashed for every event.
extension Path {
  /// Equal when the bytes are.
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
  /// A path of the literal's UTF-8.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension Path: Comparable {
  /// The order of the bytes.
  public static func < (left: Path, right: Path) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

// MARK: - Parts

extension Path {
  /// True if it starts at the root.
  public var isAbsolute: Bool { bytes.first == Path.slash }

  /// The names between the slashes; empty ones are left out.
  public var components: [ArraySlice<UInt8>] {
    bytes.split(separator: Path.slash)
  }

  /// The bytes behind the last slash; all of them if there is none.
  public var lastComponent: ArraySlice<UInt8> {
    bytes.lastIndex(of: Path.slash).map { bytes[($0 + 1)...] } ?? bytes[...]
  }

  /// The folder that holds it; nil for `/` and for a bare name.
  public var parent: Path? {
    guard let cut = bytes.lastIndex(of: Path.slash), bytes.count > 1 else { return nil }
    return Path(bytes: bytes[..<max(cut, 1)])
  }

  /// This path, a slash, and `name`.
  public func appending(_ name: some Collection<UInt8>) -> Path {
    let needsSlash = !bytes.isEmpty && bytes.last != Path.slash
    return Path(bytes: bytes + (needsSlash ? [Path.slash] : []) + name)
  }

  /// This path with `name` in it.
  public func appending(_ name: String) -> Path {
    appending(Array(name.utf8))
  }

  /// True for `ancestor` itself and all below it. Whole names are compared: `/ab` is not in `/a`.
  public func isWithin(_ ancestor: Path) -> Bool {
    let prefix = ancestor.bytes
    guard bytes.starts(with: prefix) else { return false }
    return bytes.count == prefix.count || prefix.last == Path.slash
      || bytes[prefix.count] == Path.slash
  }

  /// What is left of it below `ancestor`, `.` for `ancestor` itself; nil if it is not within.
  public func relative(to ancestor: Path) -> Path? {
    guard isWithin(ancestor) else { return nil }
    if bytes.count == ancestor.bytes.count { return "." }
    let cut = ancestor.bytes.count + (ancestor.bytes.last == Path.slash ? 0 : 1)
    return Path(bytes: bytes[cut...])
  }

  /// It, made absolute from `base`, without `.`, `..` and repeated slashes.
  ///
  /// `..` is taken off by name, as a shell's `cd` does, and not by following links.
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
    // A loop: the type of a joined sequence takes the runtime longer to make than this whole function.
    var bytes: [UInt8] = names.isEmpty ? [Path.slash] : []
    for name in names {
      bytes.append(Path.slash)
      bytes.append(contentsOf: name)
    }
    return Path(bytes: bytes)
  }
}

// MARK: - For the system and for people

extension Path {
  /// Calls `body` with the bytes and a NUL behind them.
  package func withCString<Result, Failure>(
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

  /// The path as a string; nil if its bytes are not UTF-8.
  public var string: String? {
    String(validating: bytes, as: UTF8.self)
  }
}

extension Path: CustomStringConvertible {
  /// For people: bytes that are not UTF-8 are repaired and control characters shown as `\n` or
  /// `\u{1B}`, so that a hostile name cannot write to a terminal. Not for opening files.
  public var description: String {
    // Most paths need no care.
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    var shown = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += scalar.escaped(asASCII: true)
      default:
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
