import Support
import SystemCalls
import TestSupport

@testable import FileObservation

/// A disk in memory, on which anything can happen between two calls of the observer.
///
/// Inodes are used again, the clock of the timestamps ticks and is set back, directories change
/// while they are listed, and calls fail.
final class MemoryDisk: Disk {
  struct Node {
    let inode: UInt64
    let type: FileType
    let born: Int64
    var modified: Int64
    var changed: Int64
    var mode: UInt32
    /// What has been written last; no two writes are equal.
    var content: Int
    /// The children of a directory by name, each with its place in listings.
    var children: [[UInt8]: (node: Int, place: UInt64)] = [:]
    /// The directory that contains it, and whether it is still there.
    var parent: Int?
  }

  /// What this disk can do.
  struct Traits {
    var reusesInodes = true
    var storesBirths = true
    /// Whether timestamps are those of the last clock tick.
    var isCoarse = true
  }

  static let tick: Int64 = 4_000_000
  private static let rootNode = 0

  let traits: Traits
  /// Called before each call of the observer, and within listings.
  var meanwhile: () -> Void = {}
  /// The error of the next call, if any.
  var failure: (Path) -> Int32? = { _ in nil }
  private(set) var time: Int64 = 1_000_000_000_000
  /// Called with each call of the observer.
  var note: (_ call: String, _ path: Path?) -> Void = { _, _ in }
  private var nodes: [Int: Node] = [:]
  private var nodeCount = 0
  private var writeCount = 0
  private var inodeCount: UInt64 = 100
  private var freeInodes: [UInt64] = []
  private var opened: [Int32: Int] = [:]
  private var places = SeededGenerator(seed: 0)
  /// The paths at which something has appeared since this was reset.
  var arrivals: Set<Path> = []
  /// The hints of changes; `nil` without a source of hints.
  weak var hints: MemoryHints?

  init(_ traits: Traits) {
    self.traits = traits
    nodes[Self.rootNode] = Node(
      inode: 2, type: .directory, born: time, modified: time, changed: time, mode: 0o755,
      content: 0)
  }

  override var now: FileTime {
    FileTime(nanoseconds: traits.isCoarse ? time / Self.tick * Self.tick : time)
  }
  override var latest: FileTime { FileTime(nanoseconds: time) }

  func pass(_ nanoseconds: Int64) { time += nanoseconds }

  // MARK: - What the observer sees

  override func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus {
    try called("stat", path)
    return status(try find(path))
  }

  override func status(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) -> FileStatus {
    let number = try node(of: directory)
    try called("fstatat", Path(bytes: name))
    guard let node = nodes[number] else { throw SystemError(call: "fstatat", code: ENOENT) }
    if node.mode & 0o100 == 0 { throw SystemError(call: "fstatat", code: EACCES) }
    guard let child = node.children[Array(name)] else {
      throw SystemError(call: "fstatat", code: ENOENT)
    }
    return status(child.node)
  }

  override func status(of directory: borrowing Descriptor) throws(SystemError) -> FileStatus {
    let number = try node(of: directory)
    try called("fstat", nil)
    guard let node = nodes[number] else { throw SystemError(call: "fstat", code: ENOENT) }
    if node.mode & 0o100 == 0 { throw SystemError(call: "fstat", code: EACCES) }
    return status(number)
  }

  override func openDirectory(_ path: Path, followsLinks: Bool) throws(SystemError) -> Descriptor {
    try called("open", path)
    return try open(try find(path))
  }

  override func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor {
    let number = try node(of: parent)
    try called("openat", path)
    guard let node = nodes[number], let child = node.children[Array(path.lastComponent)] else {
      throw SystemError(call: "openat", code: ENOENT, path: path)
    }
    if node.mode & 0o100 == 0 { throw SystemError(call: "openat", code: EACCES, path: path) }
    return try open(child.node)
  }

  override func list(
    _ directory: borrowing Descriptor, into listing: inout DirectoryListing
  ) throws(SystemError) {
    let number = try node(of: directory)
    try called("getdents64", nil)
    listing.removeAll()
    var last: UInt64 = 0
    while true {
      let rest = nodes[number]?.children.filter { $0.value.place > last } ?? [:]
      for (name, child) in rest.sorted(by: { $0.value.place < $1.value.place }).prefix(2) {
        guard let node = nodes[child.node] else { continue }
        last = child.place
        (name + [0]).withUnsafeBufferPointer {
          listing.append(
            DirectoryListing.Entry(
              UnsafeBufferPointer(rebasing: $0.dropLast()), node.type, inode: node.inode))
        }
      }
      if rest.count <= 2 { return }
      meanwhile()
    }
  }

  override func linkTarget(of path: Path) throws(SystemError) -> Path {
    _ = try find(path)
    throw SystemError(call: "readlink", code: EINVAL, path: path)
  }

  override func resolved(_ path: Path) throws(SystemError) -> Path { path }

  /// Each write makes another content.
  override func digest(of path: Path) -> ContentDigest? {
    guard let number = try? find(path), let node = nodes[number], node.type == .file,
      node.mode & 0o400 != 0
    else { return nil }
    return withUnsafeBytes(of: node.content) { ContentDigest(of: $0) }
  }
}

// MARK: - What others do

extension MemoryDisk {
  /// Each path with its node, whatever the permissions.
  func tree(at path: Path) -> [Path: Node] {
    var found: [Path: Node] = [:]
    func visit(_ number: Int, _ path: Path) {
      guard let node = nodes[number] else { return }
      found[path] = node
      for (name, child) in node.children { visit(child.node, path.appending(name)) }
    }
    if let number = try? find(path, ignoringPermissions: true) { visit(number, path) }
    return found
  }

  func create(_ path: Path, _ type: FileType) {
    guard let (directory, name) = place(of: path), nodes[directory]?.children[name] == nil else {
      return
    }
    inodeCount += 1
    let inode = (traits.reusesInodes ? freeInodes.popLast() : nil) ?? inodeCount
    nodeCount += 1
    writeCount += 1
    nodes[nodeCount] = Node(
      inode: inode, type: type, born: now.nanoseconds, modified: now.nanoseconds,
      changed: now.nanoseconds, mode: type == .directory ? 0o755 : 0o644, content: writeCount,
      parent: directory)
    attach(nodeCount, to: directory, name)
    arrivals.insert(path)
    hints?.changed(
      directory, .appeared.union(type == .directory ? .directory : []), name: name)
  }

  /// Writes to a file. Its writer closes it, unless it stays open.
  func write(_ path: Path, staysOpen: Bool = false) {
    guard let number = try? find(path, ignoringPermissions: true), nodes[number]?.type == .file
    else { return }
    writeCount += 1
    nodes[number]?.content = writeCount
    nodes[number]?.modified = now.nanoseconds
    nodes[number]?.changed = now.nanoseconds
    notify(number, .written)
    if !staysOpen { notify(number, [.written, .closed]) }
  }

  func close(_ path: Path) {
    guard let number = try? find(path, ignoringPermissions: true) else { return }
    notify(number, [.written, .closed])
  }

  func setMode(_ mode: UInt32, of path: Path) {
    guard let number = try? find(path, ignoringPermissions: true) else { return }
    nodes[number]?.mode = mode
    nodes[number]?.changed = now.nanoseconds
    notify(number, .attributes)
  }

  /// Sets back the time of the last write, as `cp -p` and archivers do.
  func setModified(_ path: Path) {
    guard let number = try? find(path, ignoringPermissions: true) else { return }
    nodes[number]?.modified = 1_000
    nodes[number]?.changed = now.nanoseconds
    notify(number, .attributes)
  }

  /// Removes a file or an empty directory.
  func remove(_ path: Path) {
    guard let (directory, name) = place(of: path),
      let number = nodes[directory]?.children[name]?.node,
      nodes[number]?.children.isEmpty == true
    else { return }
    let isDirectory = nodes[number]?.type == .directory
    detach(name, from: directory)
    hints?.changed(
      directory, .disappeared.union(isDirectory ? .directory : []), name: name)
    discard(number)
  }

  /// Renames an entry. Replaces what can be replaced.
  func rename(_ old: Path, to new: Path) {
    guard let (from, oldName) = place(of: old), let (to, newName) = place(of: new),
      let number = nodes[from]?.children[oldName]?.node, !new.isWithin(old), !old.isWithin(new)
    else { return }
    let replaced = nodes[to]?.children[newName]?.node
    if let replaced {
      guard nodes[replaced]?.children.isEmpty == true,
        (nodes[replaced]?.type == .directory) == (nodes[number]?.type == .directory)
      else { return }
      detach(newName, from: to)
    }
    detach(oldName, from: from)
    attach(number, to: to, newName)
    arrivals.insert(new)
    nodes[number]?.changed = now.nanoseconds
    hints?.moved(number, isDirectory: nodes[number]?.type == .directory, from, oldName, to, newName)
    if let replaced { discard(replaced) }
  }

  /// Exchanges two entries.
  func exchange(_ one: Path, _ other: Path) {
    guard let (first, firstName) = place(of: one), let (second, secondName) = place(of: other),
      let a = nodes[first]?.children[firstName]?.node,
      let b = nodes[second]?.children[secondName]?.node, a != b,
      !one.isWithin(other), !other.isWithin(one)
    else { return }
    detach(firstName, from: first)
    detach(secondName, from: second)
    attach(a, to: second, secondName)
    attach(b, to: first, firstName)
    arrivals.formUnion([one, other])
    for number in [a, b] { nodes[number]?.changed = now.nanoseconds }
    hints?.moved(a, isDirectory: nodes[a]?.type == .directory, first, firstName, second, secondName)
    hints?.moved(b, isDirectory: nodes[b]?.type == .directory, second, secondName, first, firstName)
  }

  private func place(of path: Path) -> (directory: Int, name: [UInt8])? {
    guard let parent = path.parent, let directory = try? find(parent, ignoringPermissions: true),
      nodes[directory]?.type == .directory
    else { return nil }
    return (directory, Array(path.lastComponent))
  }

  private func attach(_ number: Int, to directory: Int, _ name: [UInt8]) {
    nodes[number]?.parent = directory
    nodes[directory]?.children[name] = (number, places.next())
    touch(directory)
  }

  private func detach(_ name: [UInt8], from directory: Int) {
    if let number = nodes[directory]?.children.removeValue(forKey: name)?.node {
      nodes[number]?.parent = nil
    }
    touch(directory)
  }

  private func touch(_ directory: Int) {
    nodes[directory]?.modified = now.nanoseconds
    nodes[directory]?.changed = now.nanoseconds
  }

  private func discard(_ number: Int) {
    guard let node = nodes.removeValue(forKey: number) else { return }
    freeInodes.append(node.inode)
    hints?.removed(number)
  }

  /// Hints at a change of a file in its directory, and of itself.
  private func notify(_ number: Int, _ reasons: Hint.Reasons) {
    defer { hints?.changedItself(number, reasons) }
    guard let node = nodes[number], let parent = node.parent,
      let name = nodes[parent]?.children.first(where: { $0.value.node == number })?.key
    else { return }
    hints?.changed(parent, reasons.union(node.type == .directory ? .directory : []), name: name)
  }
}

// MARK: - Nodes

extension MemoryDisk {
  /// The node at a path, for a watch.
  func nodeToWatch(at path: Path) throws(SystemError) -> Int {
    try called("inotify_add_watch", path)
    let number = try find(path)
    if let node = nodes[number], node.mode & 0o400 == 0 {
      throw SystemError(call: "inotify_add_watch", code: EACCES, path: path)
    }
    return number
  }

  func isDirectory(_ number: Int) -> Bool { nodes[number]?.type == .directory }
  func inode(of number: Int) -> UInt64? { nodes[number]?.inode }

  private func called(_ call: String, _ path: Path?) throws(SystemError) {
    meanwhile()
    note(call, path)
    if let code = failure(path ?? ".") { throw SystemError(call: call, code: code, path: path) }
  }

  private func open(_ number: Int) throws(SystemError) -> Descriptor {
    guard let node = nodes[number], node.type == .directory else {
      throw SystemError(call: "open", code: ENOTDIR)
    }
    if node.mode & 0o400 == 0 { throw SystemError(call: "open", code: EACCES) }
    // A descriptor of something else, by whose number the directory is known until it is closed.
    let descriptor = try Descriptor.open("/dev/null", O_RDONLY)
    opened[descriptor.number] = number
    return descriptor
  }

  private func node(of directory: borrowing Descriptor) throws(SystemError) -> Int {
    guard let number = opened[directory.number] else {
      throw SystemError(call: "fstatat", code: EBADF)
    }
    return number
  }

  private func find(_ path: Path, ignoringPermissions: Bool = false) throws(SystemError) -> Int {
    var number = Self.rootNode
    for name in path.components {
      guard let node = nodes[number], node.type == .directory else {
        throw SystemError(call: "stat", code: ENOTDIR, path: path)
      }
      if !ignoringPermissions, node.mode & 0o100 == 0 {
        throw SystemError(call: "stat", code: EACCES, path: path)
      }
      guard let child = node.children[Array(name)] else {
        throw SystemError(call: "stat", code: ENOENT, path: path)
      }
      number = child.node
    }
    return number
  }

  private func status(_ number: Int) -> FileStatus {
    // The caller has found it.
    guard let node = nodes[number] else { preconditionFailure("no such node") }

    return FileStatus(
      type: node.type, device: 1, inode: node.inode, size: 1,
      modified: FileTime(nanoseconds: node.modified), changed: FileTime(nanoseconds: node.changed),
      born: traits.storesBirths ? FileTime(nanoseconds: node.born) : nil,
      attributes: UInt64(node.mode))
  }
}
