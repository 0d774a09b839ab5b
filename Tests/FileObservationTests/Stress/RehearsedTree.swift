import SystemCalls
import TestSupport

/// An unobserved tree in which each operation of a burst is performed first, to learn which
/// operations are possible, and which paths exist at some time of the burst.
struct RehearsedTree {
  /// The entries, relative to the directory and sorted.
  struct Listing {
    var directories: [String] = []
    var files: [String] = []
    /// Directories that were moved out.
    var movedOut: [String] = []
  }

  private let base: TemporaryDirectory
  private let directory: Path
  private let counting: Counting
  private(set) var listing = Listing()
  /// Every path that existed since the last call of `beginBurst`, relative to the directory, and
  /// whether the rules of any moment include it. The observer may apply the rules of another
  /// moment.
  private(set) var names: [Path: Bool] = [:]

  /// Creates the tree with which a script begins. Impossible operations are left out.
  init(_ script: inout FuzzedScript) async throws {
    base = try TemporaryDirectory()
    try base.makeDirectories("watched")
    directory = base["watched"]
    counting = Counting(script.settings, in: directory)
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

  /// Performs an operation if it is possible.
  mutating func perform(_ operation: Operation) async throws -> Bool {
    do {
      try await operation.perform(in: directory)
    } catch is SystemError {
      return false
    }
    try list()
    return true
  }

  private mutating func list() throws {
    listing = Listing()
    let tree = try TreeMirror(of: directory)
    for (path, node) in tree.nodes {
      guard let name = path.relative(to: directory) else { continue }
      let isDirectory = node == .directory
      if isDirectory {
        listing.directories.append(name.description)
      } else {
        listing.files.append(name.description)
      }
      names[name] = names[name] == true || counting.counts(path, isDirectory: isDirectory)
    }
    // The current rules are also applied to entries that existed before, of any type.
    for (name, counted) in names where !counted {
      let path = directory.appending(name.bytes)
      if tree.nodes[path] == nil {
        names[name] =
          counting.counts(path, isDirectory: true) || counting.counts(path, isDirectory: false)
      }
    }
    listing.movedOut = try File.names(in: base.path)
      .map { "../" + String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix("../out-") }
    listing.directories.sort()
    listing.files.sort()
    listing.movedOut.sort()
  }

  /// Operations that create the current tree, and the directories that were moved out.
  func preparation() throws -> [Operation] {
    let tree = try TreeMirror(of: base.path)
    var operations: [Operation] = []
    for (path, node) in tree.nodes.sorted(by: { $0.key < $1.key }) where path != directory {
      let inside = path.relative(to: directory)
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
