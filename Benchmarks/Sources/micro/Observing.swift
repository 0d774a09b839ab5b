@testable import FileObservation
import Glibc
import PathFiltering
@testable import SystemCalls

/// The way from the kernel's events to changes.
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
    var directory = TreeSnapshot.root
    for name in ["project", "Sources", "Module", "deep", "deeper"] {
      directory = insert(name, .directory, in: directory, of: &snapshot)
    }
    let entries = (0..<1000).map { insert(fileName($0), .file, in: directory, of: &snapshot) }
    let made = snapshot
    return { for entry in entries { use(made.path(of: entry)) } }
  },
  events("event-write", [.modify]) { fileName($0) },
  events("event-ignored", [.modify]) { ".\(fileName($0)).swp" },
  events("event-removed", [.delete]) { "gone\($0).txt" },
  Benchmark(name: "walk-directory", operations: ProjectTree.directories) {
    let project = try ProjectTree()
    return {
      guard let inotify = try? Inotify() else { return }
      use(project.observe(with: inotify))
    }
  },
]

private func insert(
  _ name: String, _ type: FileType, in directory: TreeSnapshot.Entry,
  of snapshot: inout TreeSnapshot
) -> TreeSnapshot.Entry {
  Array(name.utf8).withUnsafeBufferPointer { snapshot.insert($0, type, in: directory) }
}

/// 1000 events of one kind in watched directories.
private func events(
  _ name: String, _ mask: InotifyMask, named fileName: @escaping @Sendable (Int) -> String
) -> Benchmark {
  Benchmark(name: name, operations: 1000) {
    let project = try ProjectTree()
    let known = project.observe(with: try Inotify())
    let watches = known.directories.entries.compactMap { known.directories[$0]?.watch }.sorted()
    let names = (0..<1000).map { Array(fileName($0 % ProjectTree.files).utf8) }
    return {
      var observed = known
      for (number, name) in names.enumerated() {
        // The first one is the root, which has no files.
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

/// A tree on disk, which is removed when it is released.
private final class ProjectTree {
  static let directories = 200
  static let files = 5

  let path: Path

  init() throws {
    // The length of the path must be the same in each run.
    path = Path("/var/tmp/watchrun-micro-\(10_000_000 + Int(getpid()))")
    try check(path.withCString { mkdir($0, 0o755) })
    for directory in 0..<Self.directories {
      let directoryPath = path.appending("folder\(1000 + directory)")
      try check(directoryPath.withCString { mkdir($0, 0o755) })
      for file in 0..<Self.files {
        let file = directoryPath.appending(fileName(file)).withCString { creat($0, 0o644) }
        try check(file)
        close(file)
      }
    }
  }

  deinit {
    for directory in 0..<Self.directories {
      let directoryPath = path.appending("folder\(1000 + directory)")
      for file in 0..<Self.files {
        _ = directoryPath.appending(fileName(file)).withCString { unlink($0) }
      }
      _ = directoryPath.withCString { rmdir($0) }
    }
    _ = path.withCString { rmdir($0) }
  }

  /// Watches the tree.
  func observe(with inotify: Inotify) -> ObservedTree {
    var observed = ObservedTree(
      filter: PathFilter(sources: [.defaults]), source: InotifyHints(inotify))
    observed.add(.init(path: path, coverage: .recursive))
    observed.scanPending()
    _ = observed.takeFindings()
    return observed
  }
}

/// A file with the events, which replaces the kernel's queue.
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
