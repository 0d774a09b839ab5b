import SystemCalls

/// The directory of a file and the part of its name after the last dot: people do not edit files of the same
/// kind that runs write.
struct FileKind: Hashable, Sendable {
  let directory: Path
  let ending: ArraySlice<UInt8>?

  init(_ path: Path) { (directory, ending) = (path.directory, path.ending) }
}

extension FileKind {
  /// Whether the file has the name of a product of compilers, or begins as object files, programs and their
  /// archives do, if it is read.
  static func isBuilt(_ path: Path, isRead: Bool = true) -> Bool {
    if let ending = path.ending, endings.contains(where: ending.elementsEqual) { return true }
    let start = isRead ? start(of: path, 8) : []
    return signatures.contains { start.starts(with: $0) }
  }

  /// Whether the file is one that people may edit: it is not empty, and no byte of its beginning is zero.
  static func isText(_ path: Path) -> Bool {
    let start = start(of: path, 512)
    return !start.isEmpty && !start.contains(0)
  }

  private static func start(of path: Path, _ count: Int) -> [UInt8] {
    (try? fileContents(of: path, followsLinks: false, atMost: count)) ?? []
  }

  private static let endings = ["o", "obj", "lo", "a", "so", "class", "pyc"].map(\.utf8)

  /// ELF, archives, Mach-O, Java, PE, WebAssembly, LLVM.
  private static let signatures: [[UInt8]] = [
    [0x7f, 0x45, 0x4c, 0x46], Array("!<arch>".utf8), [0xcf, 0xfa, 0xed, 0xfe],
    [0xca, 0xfe, 0xba, 0xbe], [0x4d, 0x5a, 0x90, 0x00], [0x00, 0x61, 0x73, 0x6d],
    [0x42, 0x43, 0xc0, 0xde],
  ]
}

extension Path {
  /// The part of the name after its last dot.
  fileprivate var ending: ArraySlice<UInt8>? {
    let name = lastComponent
    return name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] }
  }
}
