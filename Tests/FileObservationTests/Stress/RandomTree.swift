import SystemCalls
import TestSupport

/// Performs random operations in a tree, the same for the same seed.
struct RandomTree {
  private let directory: Path
  /// The directory for trees that are moved out and back.
  private let outside: Path
  private var generator: SeededGenerator
  /// The entries, sorted so that choices depend on the seed only.
  private var entries: [Entry] = []
  private var movedOut: [Path] = []
  /// The number of operations.
  private(set) var count = 0
  /// The operations, as lines.
  private(set) var log: [String] = []
  /// Whether names of directories are reused.
  let reusesDirectoryNames: Bool

  private struct Entry {
    var path: Path
    var isDirectory: Bool
  }

  init(in directory: Path, outside: Path, seed: UInt64, reusesDirectoryNames: Bool) {
    self.directory = directory
    self.outside = outside
    self.reusesDirectoryNames = reusesDirectoryNames
    generator = SeededGenerator(seed: seed)
  }

  mutating func forgetLog() {
    log = []
  }

  /// Performs an operation.
  mutating func step() throws {
    count += 1
    let limit = entries.count > 120 ? 60 : 100
    switch Int.random(in: 0..<100, using: &generator) * limit / 100 {
    case 0..<14: try write(anyFile)
    case 14..<22: try remove(anyFile)
    case 22..<27: try remove(anyDirectory)
    case 27..<35: try move(anyFile)
    case 35..<43: try move(anyDirectory)
    case 43..<47: try moveOut(any { _ in true })
    case 47..<50: try exchange()
    case 50..<53: try changeKind()
    case 53..<59: try replace(anyFile)
    case 59..<64: try moveIn()
    case 64..<70: try makeChain()
    case 70..<75: try makeLink()
    case 75..<80: try makeDirectory()
    default: try makeFile()
    }
  }

  // MARK: Choosing

  private mutating func any(_ isSuitable: (Entry) -> Bool) -> Entry? {
    entries.filter(isSuitable).randomElement(using: &generator)
  }

  private var anyFile: Entry? {
    mutating get { any { !$0.isDirectory } }
  }

  private var anyDirectory: Entry? {
    mutating get { any { $0.isDirectory } }
  }

  /// A path in some directory, which may exist.
  private mutating func anyPlace(forDirectory: Bool = false) -> Path {
    let parent = any { $0.isDirectory }?.path ?? directory
    let isAtTop = Int.random(in: 0..<4, using: &generator) == 0
    let number =
      forDirectory && !reusesDirectoryNames
      ? 1000 + count : Int.random(in: 0..<12, using: &generator)
    return (isAtTop ? directory : parent).appending(forDirectory ? "d\(number)" : "n\(number)")
  }

  private func isThere(_ path: Path) -> Bool {
    entries.contains { $0.path == path }
  }

  // MARK: Keeping account

  private mutating func note(_ line: String, _ path: Path, _ other: Path? = nil) {
    func name(_ path: Path) -> String { (path.relative(to: directory) ?? path).description }
    log.append("\(line) \(name(path))\(other.map { " \(name($0))" } ?? "")")
  }

  private mutating func added(_ path: Path, isDirectory: Bool) {
    entries.removeAll { $0.path == path }
    let index = entries.firstIndex { path < $0.path } ?? entries.count
    entries.insert(Entry(path: path, isDirectory: isDirectory), at: index)
  }

  private mutating func gone(_ path: Path) {
    entries.removeAll { $0.path.isWithin(path) }
  }

  private mutating func moved(_ old: Path, to new: Path) {
    gone(new)
    for index in entries.indices where entries[index].path.isWithin(old) {
      entries[index].path = entries[index].path.moved(from: old, to: new)
    }
    entries.sort { $0.path < $1.path }
  }

  private mutating func text() -> String { "text \(count)" }
}

// MARK: - Operations

extension RandomTree {
  private mutating func makeFile() throws {
    let path = anyPlace()
    if entries.contains(where: { $0.path == path && $0.isDirectory }) { return }
    note("write", path)
    try File.replaceIfLink(path)
    try File.write(text(), to: path)
    added(path, isDirectory: false)
  }

  private mutating func write(_ entry: Entry?) throws {
    guard let entry else { return }
    note("append", entry.path)
    try File.replaceIfLink(entry.path)
    try File.write(Array(text().utf8), to: entry.path, O_APPEND)
  }

  /// Writes another file and renames it over an existing one.
  private mutating func replace(_ entry: Entry?) throws {
    guard let entry else { return }
    note("replace", entry.path)
    let draft = outside.appending("draft")
    try File.write(text(), to: draft)
    try File.move(draft, to: entry.path)
  }

  private mutating func remove(_ entry: Entry?) throws {
    guard let entry else { return }
    note("rm -r", entry.path)
    try File.removeTree(entry.path)
    gone(entry.path)
  }

  private mutating func move(_ entry: Entry?) throws {
    guard let entry else { return }
    let place = anyPlace(forDirectory: entry.isDirectory)
    if place.isWithin(entry.path) { return }
    if let there = entries.first(where: { $0.path == place }) {
      // A file may replace a file, and a directory an empty one.
      let isEmpty = !entries.contains { $0.path != place && $0.path.isWithin(place) }
      if there.isDirectory != entry.isDirectory || (there.isDirectory && !isEmpty) { return }
    }
    note("mv", entry.path, place)
    try File.move(entry.path, to: place)
    moved(entry.path, to: place)
  }

  private mutating func moveOut(_ entry: Entry?) throws {
    guard let entry else { return }
    let place = outside.appending("out-\(count)\(entry.isDirectory ? "-directory" : "")")
    note("mv", entry.path, place)
    try File.move(entry.path, to: place)
    gone(entry.path)
    movedOut.append(place)
  }

  private mutating func moveIn() throws {
    guard let index = movedOut.indices.randomElement(using: &generator) else { return }
    let isDirectory = movedOut[index].bytes.suffix(7).elementsEqual("-directory".utf8)
    let place = anyPlace(forDirectory: isDirectory)
    if isThere(place) { return }
    let origin = movedOut.remove(at: index)
    note("mv", origin, place)
    try File.move(origin, to: place)
    try addTree(place)
  }

  private mutating func addTree(_ path: Path) throws {
    let isDirectory = try FileStatus(of: path).type == .directory
    added(path, isDirectory: isDirectory)
    if isDirectory { for name in try File.names(in: path) { try addTree(path.appending(name)) } }
  }

  private mutating func makeDirectory() throws {
    let place = anyPlace(forDirectory: true)
    if isThere(place) { return }
    note("mkdir", place)
    try File.makeDirectory(place)
    added(place, isDirectory: true)
  }

  private mutating func makeChain() throws {
    var place = anyPlace(forDirectory: true)
    if isThere(place) { return }
    note("mkdir -p and write", place)
    for name in ["d1", "d2", "d3"] {
      try File.makeDirectory(place)
      added(place, isDirectory: true)
      place = place.appending(name)
    }
    try File.write(text(), to: place)
    added(place, isDirectory: false)
  }

  private mutating func makeLink() throws {
    let place = anyPlace()
    if isThere(place) { return }
    note("ln -s", place)
    try File.makeLink(place, to: Path("target-\(count)"))
    added(place, isDirectory: false)
  }

  /// Replaces a file by a directory, or a directory by a file.
  private mutating func changeKind() throws {
    let reusesDirectoryNames = reusesDirectoryNames
    guard let entry = any({ !$0.isDirectory || reusesDirectoryNames }) else { return }
    note("change the kind of", entry.path)
    try File.removeTree(entry.path)
    gone(entry.path)
    if entry.isDirectory {
      try File.write(text(), to: entry.path)
      added(entry.path, isDirectory: false)
    } else {
      let inside = entry.path.appending("inside")
      try File.makeDirectory(entry.path)
      try File.write(text(), to: inside)
      added(entry.path, isDirectory: true)
      added(inside, isDirectory: false)
    }
  }

  /// Exchanges two files. Scripts exchange directories.
  private mutating func exchange() throws {
    guard let one = anyFile, let other = anyFile, one.path != other.path else { return }
    note("exchange", one.path, other.path)
    try File.exchange(one.path, other.path)
  }
}

extension File {
  /// A write to a dangling link would create a file elsewhere.
  fileprivate static func replaceIfLink(_ path: Path) throws {
    if (try? FileStatus(of: path))?.type == .symlink { try remove(path) }
  }
}
