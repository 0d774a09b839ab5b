import Support
import Synchronization
import SystemCalls

@testable import FileObservation

/// Fake files and directories, with a clock that advances by one with each change.
final class FakeDisk: Sendable {
  fileprivate struct Node {
    var content: String?
    var inode: UInt64
    var modified: Int64
    var changed: Int64
  }

  fileprivate struct State {
    var nodes: [Path: Node] = [:]
    var time: Int64 = 1
    var inodes: UInt64 = 0
    var isUnreadable: Set<Path> = []
    var readCount = 0
  }

  private let state = Mutex(State())
  /// Called once, in the middle of the next reading.
  let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

  /// The present time, with which changes are stamped.
  var now: FileTime { FileTime(nanoseconds: state.withLock { $0.time }) }
  var readCount: Int { state.withLock { $0.readCount } }
  var files: [Path: String] {
    state.withLock { $0.nodes.compactMapValues(\.content) }
  }

  func content(of path: Path) -> String? { state.withLock { $0.nodes[path]?.content } }

  func inode(of path: Path) -> UInt64? { state.withLock { $0.nodes[path]?.inode } }

  /// A directory and its descendants.
  func entries(in directory: Path) -> [(path: Path, inode: UInt64, type: FileType)] {
    state.withLock { state in
      state.nodes.filter { $0.key.isWithin(directory) }.sorted { $0.key < $1.key }.map {
        ($0.key, $0.value.inode, $0.value.content == nil ? .directory : .file)
      }
    }
  }

  /// Writes to a file, or creates it.
  func write(_ content: String, to path: Path) {
    state.withLock { state in
      if state.nodes[path] != nil {
        state.tick()
        state.nodes[path]?.content = content
        state.nodes[path]?.modified = state.time
        state.nodes[path]?.changed = state.time
      } else {
        state.add(path, content)
      }
    }
  }

  /// Replaces a file.
  func replace(_ path: Path, with content: String) {
    state.withLock { $0.add(path, content) }
  }

  func makeDirectory(_ path: Path) {
    state.withLock { $0.add(path, nil) }
  }

  func remove(_ path: Path) {
    state.withLock { state in
      state.tick()
      for node in state.nodes.keys where node.isWithin(path) { state.nodes[node] = nil }
      state.touchParent(of: path)
    }
  }

  /// Renames an entry. The descendants of a directory keep their times.
  func rename(_ old: Path, to new: Path) {
    state.withLock { state in
      state.tick()
      for node in state.nodes.keys where node.isWithin(new) { state.nodes[node] = nil }
      for (node, value) in state.nodes where node.isWithin(old) {
        state.nodes[node] = nil
        let rest = node.relative(to: old) ?? "."
        state.nodes[rest == "." ? new : new.appending(rest.bytes)] = value
      }
      state.nodes[new]?.changed = state.time
      state.touchParent(of: old)
      state.touchParent(of: new)
    }
  }

  func makeUnreadable(_ path: Path) {
    state.withLock { _ = $0.isUnreadable.insert(path) }
  }

  func digest(of path: Path) -> ContentDigest? {
    let before = stamp(of: path)
    let content = state.withLock { state -> String? in
      state.readCount += 1
      return state.isUnreadable.contains(path) ? nil : state.nodes[path]?.content
    }
    meanwhile.withLock { meanwhile in
      defer { meanwhile = nil }
      return meanwhile
    }?()
    guard let content, let before, stamp(of: path) == before else { return nil }
    return .of(content)
  }

  func stamp(of path: Path) -> FileStatus? {
    state.withLock { state in
      state.nodes[path].map {
        FileStatus(
          type: $0.content == nil ? .directory : .file, device: 0, inode: $0.inode,
          size: UInt64($0.content?.utf8.count ?? 0), modified: FileTime(nanoseconds: $0.modified),
          changed: FileTime(nanoseconds: $0.changed), born: nil, attributes: 0)
      }
    }
  }
}

extension FakeDisk.State {
  fileprivate mutating func tick() { time += 1 }

  fileprivate mutating func add(_ path: Path, _ content: String?) {
    tick()
    inodes += 1
    nodes[path] = .init(content: content, inode: inodes, modified: time, changed: time)
    touchParent(of: path)
  }

  fileprivate mutating func touchParent(of path: Path) {
    guard let parent = path.parent else { return }
    nodes[parent]?.modified = time
    nodes[parent]?.changed = time
  }
}

extension ContentDigest {
  static func of(_ text: String) -> ContentDigest {
    Array(text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
  }
}
