import SystemCalls

/// Finds the files that the output of a run names: in the directory of the task, in those that `make` enters, in
/// those above, as `cargo` names files of a workspace, or, for tools that print only a part of the path, below the
/// task's directory.
///
/// Made for one output, since files come and go. Makes system calls, each for another name.
final class SourceFiles {
  /// The most names that are looked up.
  private static let mostNames = 4_000
  /// The most entries that are read to find a part of a path.
  private static let mostEntries = 20_000
  private static let mostDepth = 12
  /// How far above the directory of the task that of a workspace may be.
  private static let mostAncestors = 4

  /// The directory of the task.
  let directory: Path
  /// The directories that `make` has entered.
  private var entered: [Path] = []
  private var known: [String: Path?] = [:]
  /// The files below the directory, by their names; `nil` before they are needed.
  private var files: [ArraySlice<UInt8>: [Path]]?
  /// The file that was read last, and its lines.
  private var source: (path: Path, lines: [ArraySlice<UInt8>])?

  init(directory: Path) {
    self.directory = directory
  }

  /// `make` enters a directory, or leaves one: with `-j`, not always the last that it has entered.
  func change(to name: String, isLeaving: Bool) {
    let path = Path(name).absolute(from: directory)
    known = [:]
    if !isLeaving { return entered.append(path) }
    let index = entered.lastIndex(of: path) ?? entered.indices.last
    if let index { entered.remove(at: index) }
  }

  /// The directory from which names count.
  var current: Path { entered.last ?? directory }

  func file(_ name: OutputLine) -> Path? { file(named: name.decoded) }

  /// Returns the file with this name; `nil` if there is none.
  func file(named name: String) -> Path? {
    if let path = known[name] { return path }
    guard known.count < Self.mostNames else { return nil }
    let path = look(for: name)
    known[name] = .some(path)
    return path
  }

  private func look(for name: String) -> Path? {
    // A name without a directory says too little.
    let isPath = name.contains("/")
    let bases = [current, directory] + (isPath ? ancestors : [])
    return bases.lazy.map { Path(name).absolute(from: $0) }.first(where: Self.isFile)
  }

  private var ancestors: ArraySlice<Path> {
    Array(sequence(first: directory, next: \.parent).prefix(Self.mostAncestors + 1)).dropFirst()
  }

  private static func isFile(_ path: Path) -> Bool {
    guard let status = try? FileStatus(of: path, followsLinks: true) else { return false }
    return status.type == .file
  }

  /// Returns the file with this name, or the only one below the directory whose path ends with it.
  func fileOrEnd(_ name: OutputLine) -> Path? {
    if let path = file(name) { return path }
    let path = Path(bytes: name)
    if path.isAbsolute { return nil }
    let end = path.absolute(from: "/")
    let found = (filesByName[path.lastComponent] ?? []).filter {
      $0.bytes.reversed().starts(with: end.bytes.reversed())
    }
    return found.count == 1 ? found[0] : nil
  }

  /// Returns the line of a file with this number, from 1 on; empty if it cannot be read.
  func line(_ number: Int, of path: Path) -> OutputLine {
    if source?.path != path {
      let text = (try? fileContents(of: path)) ?? []
      let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      source = (path, lines)
    }
    guard let lines = source?.lines, lines.indices.contains(number - 1) else { return [] }
    return lines[number - 1]
  }

  /// Whether a file is one of the project, and no dependency.
  func isOwn(_ path: Path) -> Bool {
    guard let relative = path.relative(to: directory) else { return false }
    return !relative.components.contains { name in
      Self.foreign.contains { name.elementsEqual($0.utf8) } || name.first == UInt8(ascii: ".")
    }
  }

  /// The directories of dependencies and of what is built.
  private static let foreign = [
    "node_modules", "site-packages", "venv", "vendor", "target", "build",
  ]

  private var filesByName: [ArraySlice<UInt8>: [Path]] {
    if let files { return files }
    var files: [ArraySlice<UInt8>: [Path]] = [:]
    var pending = [(path: directory, depth: 0)]
    var rest = Self.mostEntries
    while rest > 0, !pending.isEmpty {
      let (path, depth) = pending.removeFirst()
      var listing = DirectoryListing()
      guard let opened = try? Descriptor.openDirectory(path),
        (try? listing.read(opened)) != nil
      else { continue }
      listing.forEach { entry in
        rest -= 1
        let child = path.appending(entry.name)
        guard entry.name.first != UInt8(ascii: ".") else { return }
        switch entry.type {
        case .directory:
          if depth < Self.mostDepth && isOwn(child) { pending.append((child, depth + 1)) }
        case .file: files[child.lastComponent, default: []].append(child)
        default: break
        }
      }
    }
    self.files = files
    return files
  }
}
