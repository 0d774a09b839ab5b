import FileObservation
import SystemCalls

/// The compiled modules of Python, which it compares with their sources by whole seconds and by size: of two saves
/// within a second, it would run the first one for ever.
enum PythonCaches {
  /// Of larger batches, such as checkouts, hardly any file is saved twice in a second.
  private static let mostFiles = 500
  /// A magic number, flags, and the time and the size of the source, 4 bytes each.
  private static let headerLength = 16

  /// Removes the compiled modules that look as if they were made of the present contents of changed sources. Python
  /// makes them again.
  static func removeUncertain(_ changes: [ChangeBatch.Change]) {
    for change in changes.prefix(mostFiles)
    where change.path.lastComponent.reversed().starts(with: "yp.".utf8) {
      removeUncertain(of: change.path)
    }
  }

  private static func removeUncertain(of source: Path) {
    guard let directory = source.parent?.appending("__pycache__"),
      let status = try? FileStatus(of: source, followsLinks: true),
      let opened = try? Descriptor.openDirectory(directory)
    else { return }
    var listing = DirectoryListing()
    guard (try? listing.read(opened)) != nil else { return }
    // "mod." of "mod.cpython-311.pyc"
    let name = source.lastComponent.dropLast(2)
    let seconds = UInt32(truncatingIfNeeded: status.modified.nanoseconds / 1_000_000_000)
    let size = UInt32(truncatingIfNeeded: status.size)
    listing.forEach { entry in
      guard entry.type == .file, entry.name.starts(with: name) else { return }
      let path = directory.appending(entry.name)
      guard let header = try? fileContents(of: path)?.prefix(headerLength),
        header.count == headerLength, number(header[4..<8]) == 0,
        number(header[8..<12]) == seconds, number(header[12..<16]) == size
      else { return }
      removeFile(path)
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
