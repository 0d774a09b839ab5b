import SystemCalls
import TestSupport

/// A tree that nobody watches, in which each operation of a burst is done first: so it is known which
/// operations are possible, and which paths exist at some time of the burst.
struct RehearsedTree {
  /// What is there, relative to the folder and sorted.
  struct Listing {
    var folders: [String] = []
    var files: [String] = []
    /// Directories beside the folder.
    var movedOut: [String] = []
  }

  private let base: TemporaryDirectory
  private let folder: Path
  private let counting: Counting
  private(set) var listing = Listing()
  /// Every path that existed since the last call of `beginBurst`, relative to the folder, and
  /// whether it counted at any time. What is ignored under the rules of one moment may be judged by
  /// those of another.
  private(set) var names: [Path: Bool] = [:]

  /// The tree that a script begins with. Operations that are not possible are left out.
  init(_ script: inout FuzzedScript) async throws {
    base = try TemporaryDirectory()
    try base.makeDirectories("watched")
    folder = base["watched"]
    counting = Counting(script.settings, in: folder)
    var possible: [Operation] = []
    for operation in script.preparation where try await perform(operation) {
      possible.append(operation)
    }
    script.preparation = possible
    try beginBurst()
  }

  mutating func beginBurst() throws {
    names = [:]
    try list()
  }

  /// Does it, if it is possible.
  mutating func perform(_ operation: Operation) async throws -> Bool {
    do {
      try await operation.perform(in: folder)
    } catch is SystemError {
      return false
    }
    try list()
    return true
  }

  private mutating func list() throws {
    listing = Listing()
    let tree = try TreePicture(of: folder)
    for (path, node) in tree.nodes {
      guard let name = path.relative(to: folder) else { continue }
      let isFolder = node == .directory
      if isFolder {
        listing.folders.append(name.description)
      } else {
        listing.files.append(name.description)
      }
      names[name] = names[name] == true || counting.counts(path, isDirectory: isFolder)
    }
    // What was there is judged under the rules of now as well, as whatever it was.
    for (name, counted) in names where !counted {
      let path = folder.appending(name.bytes)
      if tree.nodes[path] == nil {
        names[name] =
          counting.counts(path, isDirectory: true) || counting.counts(path, isDirectory: false)
      }
    }
    listing.movedOut = try File.names(in: base.path)
      .map { "../" + String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix("../out-") }
    listing.folders.sort()
    listing.files.sort()
    listing.movedOut.sort()
  }

  /// Operations that make the tree as it is now, and what lies beside it.
  func preparation() throws -> [Operation] {
    let tree = try TreePicture(of: base.path)
    var operations: [Operation] = []
    for (path, node) in tree.nodes.sorted(by: { $0.key < $1.key }) where path != folder {
      let inside = path.relative(to: folder)
      let name = inside ?? path.relative(to: base.path)
      guard let name else { continue }
      let text = (inside == nil ? "../" : "") + name.description
      switch node {
      case .directory: operations.append(Operation(.mkdir, text))
      case .file(let content):
        operations.append(Operation(.write, text, String(decoding: content, as: UTF8.self)))
      default: break
      }
    }
    return operations
  }
}
