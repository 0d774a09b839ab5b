import FileObservation
import SystemCalls

/// The compiled modules of Python, which it compares with their sources by whole seconds and by size: of two saves
/// within a second, it would run the first one for ever.
enum PythonCaches {
  /// Of larger batches, such as checkouts, hardly any file is saved twice in a second.
  private static let mostFiles = 500
  /// A magic number, flags, and the time and the size of the source, 4 bytes each.
  private static let headerLength = 16

  /// Removes compiled modules that look as if they were made of the present sources. Python makes them again.
  static func removeUncertain(_ changes: [ChangeBatch.Change]) {
    let sources = Set(
      changes.prefix(mostFiles).map(\.path).filter {
        $0.lastComponent.reversed().starts(with: "yp.".utf8)
      })
    // Each directory is read once.
    for directory in Set(sources.compactMap(\.parent)) {
      let caches = directory.appending("__pycache__")
      for name in (try? directoryNames(of: caches))?.map(\.bytes) ?? [] {
        // "mod." of "mod.cpython-311.pyc"
        for dot in name.indices where name[dot] == UInt8(ascii: ".") {
          let source = directory.appending(Array(name[...dot]) + "py".utf8)
          let path = caches.appending(name)
          if sources.contains(source), isUncertain(path, of: source) { removeFile(path) }
        }
      }
    }
  }

  private static func isUncertain(_ module: Path, of source: Path) -> Bool {
    guard let status = try? FileStatus(of: source, followsLinks: true) else { return false }
    let header =
      (try? fileContents(of: module, followsLinks: false, atMost: headerLength)) ?? []
    let seconds = UInt32(truncatingIfNeeded: status.modified.nanoseconds / 1_000_000_000)
    let size = UInt32(truncatingIfNeeded: status.size)
    return header.count >= headerLength && number(header[4..<8]) == 0
      && number(header[8..<12]) == seconds && number(header[12..<16]) == size
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
