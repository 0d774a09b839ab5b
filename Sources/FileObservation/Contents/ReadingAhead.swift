import Dispatch
import PathFiltering
import Support
import SystemCalls

/// Reads the files that are watched before they change, so that the first save of each can be
/// compared. Folder by folder, never for more than half of the time, and up to a number of bytes.
package final class ReadingAhead: Sendable {
  private static let filesPerSlice = 64

  private struct Progress {
    var walk: ReadAheadWalk
    var bytesLeft: Int
  }

  private let start: FileTime
  private let source: any ContentSource
  private let comparison: ContentComparison
  private let scheduler: any Scheduler
  private let progress: Confined<Progress>

  /// - Parameters:
  ///   - start: When observing began. Only what has not changed since is remembered.
  ///   - queue: Where it is done, a serial one.
  ///   - scheduler: Of that queue.
  package init(
    _ walk: ReadAheadWalk, since start: FileTime, atMost bytes: Int, source: any ContentSource,
    for comparison: ContentComparison, queue: DispatchQueue, scheduler: any Scheduler
  ) {
    self.start = start
    self.source = source
    self.comparison = comparison
    self.scheduler = scheduler
    progress = Confined(Progress(walk: walk, bytesLeft: bytes), to: queue)
  }

  /// Begins; ends by itself, or when the comparison is stopped.
  package func begin() {
    goOn(at: scheduler.now)
  }

  private func goOn(at time: Instant) {
    _ = scheduler.schedule(at: time) { self.readSlice() }
  }

  private func readSlice() {
    let began = scheduler.now
    let slice = progress.access { progress -> ReadAheadWalk.Slice? in
      if comparison.isStopped || progress.bytesLeft <= 0 { return nil }
      return progress.walk.next(atMost: Self.filesPerSlice)
    }
    guard let slice else { return }
    let samples = progress.access { progress in sample(slice.files, &progress.bytesLeft) }
    let pause = began.duration(to: scheduler.now)
    comparison.learn(samples, of: slice.folder, since: start, below: slice.root) { [self] hasRoom in
      if hasRoom { goOn(at: scheduler.now.advanced(by: pause)) }
    }
  }

  private func sample(
    _ files: [Path], _ bytesLeft: inout Int
  ) -> [(path: Path, sample: ContentSample)] {
    var samples: [(path: Path, sample: ContentSample)] = []
    for path in files where bytesLeft > 0 && !comparison.isStopped {
      // What has changed since is not worth reading.
      guard let stamp = source.stamp(of: path), stamp.changed < start,
        let sample = source.sample(of: path)
      else { continue }
      bytesLeft -= Int(clamping: sample.stamp.size)
      samples.append((path, sample))
    }
    return samples
  }
}

/// The files to read ahead, folder by folder. Links are not followed, not even where they are watched
/// themselves: what a link leads to may change without a trace in the times.
package struct ReadAheadWalk {
  /// Files of one folder.
  package struct Slice {
    package let folder: Path
    package let files: [Path]
    /// What is watched, in which the folder is.
    package var root: DirectoryAtStart?
  }

  private struct Folder {
    let path: Path
    /// The rules for it; nil for a root, which has its own.
    let parentStack: IgnoreStack?
    let isRecursive: Bool
    let root: DirectoryAtStart?
  }

  private let filter: PathFilter
  private let reader = DirectoryReader()
  private var folders: [Folder] = []
  /// Files of the folder that was listed last.
  private var files: (folder: Path, rest: [Path], root: DirectoryAtStart?)
  /// Files that are watched by name.
  private var named: [Path] = []

  package init(_ roots: [BackendConfiguration.Root], filter: PathFilter) {
    self.filter = filter
    files = ("/", [], nil)
    for root in roots where (try? resolvedPath(root.path)) == root.path {
      if root.coverage == .named {
        named.append(root.path)
      } else {
        folders.append(
          Folder(
            path: root.path, parentStack: nil, isRecursive: root.coverage == .recursive,
            root: (try? FileStatus(of: root.path)).map {
              DirectoryAtStart(path: root.path, stamp: FileStamp($0))
            }))
      }
    }
  }

  /// The next files, which may be none; nil at the end.
  package mutating func next(atMost limit: Int) -> Slice? {
    if let path = named.popLast() { return Slice(folder: path.parent ?? "/", files: [path]) }
    if files.rest.isEmpty {
      guard let folder = folders.popLast() else { return nil }
      list(folder)
    }
    let slice = Slice(
      folder: files.folder, files: files.rest.suffix(limit), root: files.root)
    files.rest.removeLast(slice.files.count)
    return slice
  }

  private mutating func list(_ folder: Folder) {
    files = (folder.path, [], folder.root)
    var entries: [(path: Path, type: FileType)] = []
    var seen: IgnoreFileNames = []
    do throws(SystemError) {
      let directory = try Descriptor.openDirectory(folder.path)
      try reader.forEachEntry(of: directory) { (name, type) throws(SystemError) in
        seen.formUnion(IgnoreFileNames.of(name))
        if type == .file || type == .directory {
          entries.append((folder.path.appending(Array(name)), type))
        }
      }
    } catch {
      return
    }
    let stack =
      folder.parentStack.map { filter.stack(entering: folder.path, seen: seen, from: $0) }
      ?? filter.stack(forRoot: folder.path)
    for (path, type) in entries {
      let name = path.bytes.count - path.lastComponent.count
      path.bytes.withUnsafeBufferPointer { bytes in
        if type == .file {
          if filter.reports(bytes, nameAt: name, isDirectory: false, in: stack) {
            files.rest.append(path)
          }
        } else if folder.isRecursive && filter.mayEnter(bytes, nameAt: name, in: stack) {
          folders.append(
            Folder(path: path, parentStack: stack, isRecursive: true, root: folder.root))
        }
      }
    }
  }
}
