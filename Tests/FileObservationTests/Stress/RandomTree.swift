import SystemCalls
import TestSupport

/// Does random things to a tree, the same ones for the same seed.
struct RandomTree {
  private let folder: Path
  /// Where trees go that are moved out, and come from again.
  private let outside: Path
  private var generator: SeededGenerator
  /// What is there: sorted, so that choices do not depend on anything but the seed.
  private var entries: [Entry] = []
  private var movedOut: [Path] = []
  /// How much has been done.
  private(set) var count = 0
  /// What was done, as lines.
  private(set) var log: [String] = []
  /// False where no name is used again that a folder has had.
  let reusesFolderNames: Bool

  private struct Entry {
    var path: Path
    var isFolder: Bool
  }

  init(in folder: Path, outside: Path, seed: UInt64, reusesFolderNames: Bool) {
    self.folder = folder
    self.outside = outside
    self.reusesFolderNames = reusesFolderNames
    generator = SeededGenerator(seed: seed)
  }

  mutating func forgetLog() {
    log = []
  }

  /// Does something.
  mutating func step() throws {
    count += 1
    let limit = entries.count > 120 ? 60 : 100
    switch Int.random(in: 0..<100, using: &generator) * limit / 100 {
    case 0..<14: try write(anyFile)
    case 14..<22: try remove(anyFile)
    case 22..<27: try remove(anyFolder)
    case 27..<35: try move(anyFile)
    case 35..<43: try move(anyFolder)
    case 43..<47: try moveOut(any { _ in true })
    case 47..<50: try exchange()
    case 50..<53: try changeKind()
    case 53..<59: try replace(anyFile)
    case 59..<64: try moveIn()
    case 64..<70: try makeChain()
    case 70..<75: try makeLink()
    case 75..<80: try makeFolder()
    default: try makeFile()
    }
  }

  // MARK: Choosing

  private mutating func any(_ isSuitable: (Entry) -> Bool) -> Entry? {
    entries.filter(isSuitable).randomElement(using: &generator)
  }

  private var anyFile: Entry? {
    mutating get { any { !$0.isFolder } }
  }

  private var anyFolder: Entry? {
    mutating get { any { $0.isFolder } }
  }

  /// A place in some folder, where there may be something already.
  private mutating func anyPlace(forFolder: Bool = false) -> Path {
    let parent = any { $0.isFolder }?.path ?? folder
    let isAtTop = Int.random(in: 0..<4, using: &generator) == 0
    let number =
      forFolder && !reusesFolderNames ? 1000 + count : Int.random(in: 0..<12, using: &generator)
    return (isAtTop ? folder : parent).appending(forFolder ? "d\(number)" : "n\(number)")
  }

  private func isThere(_ path: Path) -> Bool {
    entries.contains { $0.path == path }
  }

  // MARK: Keeping account

  private mutating func note(_ line: String, _ path: Path, _ other: Path? = nil) {
    func name(_ path: Path) -> String { (path.relative(to: folder) ?? path).description }
    log.append("\(line) \(name(path))\(other.map { " \(name($0))" } ?? "")")
  }

  private mutating func added(_ path: Path, isFolder: Bool) {
    entries.removeAll { $0.path == path }
    let index = entries.firstIndex { path < $0.path } ?? entries.count
    entries.insert(Entry(path: path, isFolder: isFolder), at: index)
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

// MARK: - What is done

extension RandomTree {
  private mutating func makeFile() throws {
    let path = anyPlace()
    if entries.contains(where: { $0.path == path && $0.isFolder }) { return }
    note("write", path)
    try File.replaceIfLink(path)
    try File.write(text(), to: path)
    added(path, isFolder: false)
  }

  private mutating func write(_ entry: Entry?) throws {
    guard let entry else { return }
    note("append", entry.path)
    try File.replaceIfLink(entry.path)
    try File.write(Array(text().utf8), to: entry.path, O_APPEND)
  }

  /// Writes another file, and renames it over.
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
    let place = anyPlace(forFolder: entry.isFolder)
    if place.isWithin(entry.path) { return }
    if let there = entries.first(where: { $0.path == place }) {
      // A file may be replaced by a file, and an empty folder by a folder.
      let isEmpty = !entries.contains { $0.path != place && $0.path.isWithin(place) }
      if there.isFolder != entry.isFolder || (there.isFolder && !isEmpty) { return }
    }
    note("mv", entry.path, place)
    try File.move(entry.path, to: place)
    moved(entry.path, to: place)
  }

  private mutating func moveOut(_ entry: Entry?) throws {
    guard let entry else { return }
    let place = outside.appending("out-\(count)\(entry.isFolder ? "-folder" : "")")
    note("mv", entry.path, place)
    try File.move(entry.path, to: place)
    gone(entry.path)
    movedOut.append(place)
  }

  private mutating func moveIn() throws {
    guard let index = movedOut.indices.randomElement(using: &generator) else { return }
    let isFolder = movedOut[index].bytes.suffix(7).elementsEqual("-folder".utf8)
    let place = anyPlace(forFolder: isFolder)
    if isThere(place) { return }
    let origin = movedOut.remove(at: index)
    note("mv", origin, place)
    try File.move(origin, to: place)
    try addTree(place)
  }

  private mutating func addTree(_ path: Path) throws {
    let isFolder = try FileStatus(of: path).type == .directory
    added(path, isFolder: isFolder)
    if isFolder { for name in try File.names(in: path) { try addTree(path.appending(name)) } }
  }

  private mutating func makeFolder() throws {
    let place = anyPlace(forFolder: true)
    if isThere(place) { return }
    note("mkdir", place)
    try File.makeFolder(place)
    added(place, isFolder: true)
  }

  private mutating func makeChain() throws {
    var place = anyPlace(forFolder: true)
    if isThere(place) { return }
    note("mkdir -p and write", place)
    for name in ["d1", "d2", "d3"] {
      try File.makeFolder(place)
      added(place, isFolder: true)
      place = place.appending(name)
    }
    try File.write(text(), to: place)
    added(place, isFolder: false)
  }

  private mutating func makeLink() throws {
    let place = anyPlace()
    if isThere(place) { return }
    note("ln -s", place)
    try File.makeLink(place, to: Path("target-\(count)"))
    added(place, isFolder: false)
  }

  /// A file becomes a folder, or the other way round.
  private mutating func changeKind() throws {
    let reusesFolderNames = reusesFolderNames
    guard let entry = any({ !$0.isFolder || reusesFolderNames }) else { return }
    note("change the kind of", entry.path)
    try File.removeTree(entry.path)
    gone(entry.path)
    if entry.isFolder {
      try File.write(text(), to: entry.path)
      added(entry.path, isFolder: false)
    } else {
      let inside = entry.path.appending("inside")
      try File.makeFolder(entry.path)
      try File.write(text(), to: inside)
      added(entry.path, isFolder: true)
      added(inside, isFolder: false)
    }
  }

  /// Two files change places. Two folders: see the scripts.
  private mutating func exchange() throws {
    guard let one = anyFile, let other = anyFile, one.path != other.path else { return }
    note("exchange", one.path, other.path)
    try File.exchange(one.path, other.path)
  }
}

extension File {
  /// Writing to a link that leads nowhere would make a file elsewhere.
  fileprivate static func replaceIfLink(_ path: Path) throws {
    if (try? FileStatus(of: path))?.type == .symlink { try remove(path) }
  }
}
