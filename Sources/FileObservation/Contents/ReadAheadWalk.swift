import PathFiltering
import SystemCalls

/// An enumeration of the files to read ahead, directory by directory.
///
/// Links are not followed, not even watched ones: another target leaves no trace in the times of
/// the files.
package struct ReadAheadWalk {
  /// Some files of one directory.
  package struct Slice {
    package let directory: Path
    package let files: [Path]
    /// The watched root that contains the directory.
    package var root: DirectoryAtStart?
  }

  private struct Directory {
    let path: Path
    /// The ignore rules of its parent; `nil` for a root.
    let parentStack: IgnoreStack?
    let isRecursive: Bool
    let root: DirectoryAtStart?
  }

  private let filter: PathFilter
  private var listing = DirectoryListing()
  private var directories: [Directory] = []
  /// The remaining files of the directory that was listed last.
  private var files: (directory: Path, rest: [Path], root: DirectoryAtStart?)
  /// Files that are roots themselves.
  private var named: [Path] = []

  package init(_ roots: [BackendConfiguration.Root], filter: PathFilter) {
    self.filter = filter
    files = ("/", [], nil)
    for root in roots where (try? resolvedPath(root.path)) == root.path {
      if root.coverage == .named {
        named.append(root.path)
      } else {
        directories.append(
          Directory(
            path: root.path, parentStack: nil, isRecursive: root.coverage == .recursive,
            root: (try? FileStatus(of: root.path)).map {
              DirectoryAtStart(path: root.path, stamp: FileStamp($0))
            }))
      }
    }
  }

  /// Returns the next files, possibly none; `nil` at the end.
  package mutating func next(atMost limit: Int) -> Slice? {
    if let path = named.popLast() { return Slice(directory: path.parent ?? "/", files: [path]) }
    if files.rest.isEmpty {
      guard let directory = directories.popLast() else { return nil }
      list(directory)
    }
    let slice = Slice(
      directory: files.directory, files: files.rest.suffix(limit), root: files.root)
    files.rest.removeLast(slice.files.count)
    return slice
  }

  private mutating func list(_ directory: Directory) {
    files = (directory.path, [], directory.root)
    var entries: [(path: Path, type: FileType)] = []
    do throws(SystemError) {
      try listing.read(try Descriptor.openDirectory(directory.path))
    } catch {
      return
    }
    let seen = listing.ignoreFiles(in: directory.path)
    listing.forEach {
      if $0.type == .file || $0.type == .directory {
        entries.append((directory.path.appending(Array($0.name)), $0.type))
      }
    }
    let stack =
      directory.parentStack.map { filter.stack(entering: directory.path, seen: seen, from: $0) }
      ?? filter.stack(forRoot: directory.path)
    for (path, type) in entries {
      let name = path.bytes.count - path.lastComponent.count
      path.bytes.withUnsafeBufferPointer { bytes in
        if type == .file {
          if filter.reports(bytes, nameAt: name, isDirectory: false, in: stack) {
            files.rest.append(path)
          }
        } else if directory.isRecursive && filter.mayEnter(bytes, nameAt: name, in: stack) {
          directories.append(
            Directory(path: path, parentStack: stack, isRecursive: true, root: directory.root))
        }
      }
    }
  }
}
