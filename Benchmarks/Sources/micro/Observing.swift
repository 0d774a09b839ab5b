@testable import FileObservation
import Glibc
import PathFiltering
@testable import SystemCalls

/// From the bytes that the kernel gives to what they mean.
let observing = [
  Benchmark(name: "decode-event", operations: 1000) {
    let inotify = try Inotify()
    let file = try StandIn(for: inotify, events: 1000)
    return {
      file.rewind()
      var bytes = 0
      while (try? inotify.readEvents { bytes += $0.name.count }) == true {}
      use(bytes)
    }
  },
  Benchmark(name: "path", operations: 1000) {
    var snapshot = TreeSnapshot()
    var folder = TreeSnapshot.root
    for name in ["project", "Sources", "Module", "deep", "deeper"] {
      folder = insert(name, .directory, in: folder, of: &snapshot)
    }
    let entries = (0..<1000).map { insert(fileName($0), .file, in: folder, of: &snapshot) }
    let made = snapshot
    return { for entry in entries { use(made.path(of: entry)) } }
  },
  events("event-write", [.modify]) { fileName($0) },
  events("event-ignored", [.modify]) { ".\(fileName($0)).swp" },
  events("event-removed", [.delete]) { "gone\($0).txt" },
  Benchmark(name: "walk-folder", operations: ProjectFolder.folders) {
    let project = try ProjectFolder()
    return {
      guard let inotify = try? Inotify() else { return }
      use(project.observe(with: inotify))
    }
  },
]

private func insert(
  _ name: String, _ type: FileType, in folder: TreeSnapshot.Entry, of snapshot: inout TreeSnapshot
) -> TreeSnapshot.Entry {
  Array(name.utf8).withUnsafeBufferPointer { snapshot.insert($0, type, in: folder) }
}

/// 1000 events of one kind, in folders that are watched.
private func events(
  _ name: String, _ mask: InotifyMask, named fileName: @escaping @Sendable (Int) -> String
) -> Benchmark {
  Benchmark(name: name, operations: 1000) {
    let project = try ProjectFolder()
    let known = project.observe(with: try Inotify())
    let watches = known.directories.entries.compactMap { known.directories[$0]?.watch }.sorted()
    let names = (0..<1000).map { Array(fileName($0 % ProjectFolder.files).utf8) }
    return {
      var observed = known
      for (number, name) in names.enumerated() {
        // The first is the watched folder itself, which is empty.
        let watch = watches[1 + number % (watches.count - 1)]
        name.withUnsafeBufferPointer {
          observed.accept(Hint(InotifyEvent(watch: watch, mask: mask, cookie: 0, name: $0)))
        }
      }
      observed.processHints()
      use(observed.takeFindings().events.count)
    }
  }
}

/// A tree on the disk, as long as it is needed.
private final class ProjectFolder {
  static let folders = 200
  static let files = 5

  let path: Path

  init() throws {
    // The length of the path must be the same each time.
    path = Path("/var/tmp/watchrun-micro-\(10_000_000 + Int(getpid()))")
    try check(path.withCString { mkdir($0, 0o755) })
    for folder in 0..<Self.folders {
      let folderPath = path.appending("folder\(1000 + folder)")
      try check(folderPath.withCString { mkdir($0, 0o755) })
      for file in 0..<Self.files {
        let file = folderPath.appending(fileName(file)).withCString { creat($0, 0o644) }
        try check(file)
        close(file)
      }
    }
  }

  deinit {
    for folder in 0..<Self.folders {
      let folderPath = path.appending("folder\(1000 + folder)")
      for file in 0..<Self.files {
        _ = folderPath.appending(fileName(file)).withCString { unlink($0) }
      }
      _ = folderPath.withCString { rmdir($0) }
    }
    _ = path.withCString { rmdir($0) }
  }

  /// The tree, watched.
  func observe(with inotify: Inotify) -> ObservedTree {
    var observed = ObservedTree(
      filter: PathFilter(sources: [.defaults]), source: InotifyHints(inotify))
    observed.add(.init(path: path, coverage: .recursive))
    while observed.scanPending(atMost: .max) {}
    _ = observed.takeFindings()
    return observed
  }
}

/// A file that holds what the kernel would give, read in its place.
private final class StandIn {
  private let descriptor: Int32

  init(for inotify: Inotify, events: Int) throws {
    var bytes: [UInt8] = []
    for number in 0..<events {
      let name = Array(fileName(number).utf8)
      let length = (name.count + 16) / 16 * 16
      for field in [1, InotifyMask.modify.rawValue, 0, UInt32(length)] as [UInt32] {
        withUnsafeBytes(of: field) { bytes += $0 }
      }
      bytes += name + Array(repeating: 0, count: length - name.count)
    }
    let path = "/var/tmp/watchrun-micro-events-\(getpid())"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try check(file)
    unlink(path)
    try check(Int32(truncatingIfNeeded: write(file, bytes, bytes.count)))
    descriptor = inotify.descriptor.number
    try check(dup2(file, descriptor))
    close(file)
  }

  func rewind() {
    lseek(descriptor, 0, SEEK_SET)
  }
}

private func check(_ result: Int32) throws {
  if result < 0 { throw SystemError.last("prepare") }
}
