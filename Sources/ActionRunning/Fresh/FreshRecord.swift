import Support
import SystemCalls

/// What a task was, has read and has written at its last success.
struct FreshRecord: Equatable, Sendable {
  let task: String
  /// The command, its environment, and the records of the dependencies.
  let definition: ContentDigest
  let inputs: ContentDigest
  let outputs: ContentDigest

  var digests: [ContentDigest] { [definition, inputs, outputs] }
}

/// The file with the records of the tasks of a directory. It is read each time, since several sessions may use it.
///
/// A line has the digests of a task and its name. The first line has the digest of the others: a file that was not
/// written by this version, or not to its end, holds nothing.
struct FreshRecordFile: Sendable {
  private static let version = "watchrun 1"
  /// A file with more than this is not read.
  private static let largest = 1 << 20
  /// The number of files for directories, of which the oldest ones are removed.
  private static let mostFiles = 200

  let path: Path

  /// - Parameter directory: That of the records of all projects.
  init(of project: Path, in directory: Path) {
    let name = project.bytes.withUnsafeBytes { ContentDigest(of: $0) }
    path = directory.appending(name.text)
  }

  /// The records; none if the file cannot be used. One that could not be removed might be true no longer.
  var records: [FreshRecord] {
    guard path.parent.map(isWritableDirectory) == true,
      let content = try? fileContents(of: path, followsLinks: false),
      content.count <= Self.largest, let cut = content.firstIndex(of: UInt8(ascii: "\n")),
      content[..<cut].elementsEqual(Self.header(of: content[(cut + 1)...]))
    else { return [] }
    return content[(cut + 1)...].split(separator: UInt8(ascii: "\n")).compactMap(Self.record)
  }

  /// Replaces or removes the record of a task by one that is made from the others.
  func update(_ task: String, _ make: ([FreshRecord]) -> FreshRecord?) throws(SystemError) {
    guard let directory = path.parent else { return }
    try makeDirectories(directory)
    try update(task, make, in: directory, holding: lockFile(directory.appending("lock")))
  }

  private func update(
    _ task: String, _ make: ([FreshRecord]) -> FreshRecord?, in directory: Path,
    holding lock: borrowing Descriptor
  ) throws(SystemError) {
    var records = records
    records.removeAll { $0.task == task }
    if let record = make(records) { records.append(record) }
    if records.isEmpty { return removeFile(path) }
    let lines = records.flatMap(Self.line)
    if !fileExists(path) { removeOldest(in: directory) }
    try replaceFile(
      path, with: Self.header(of: lines[...]) + [UInt8(ascii: "\n")] + lines,
      through: Path(bytes: path.bytes + Array(".new".utf8)))
  }

  private func removeOldest(in directory: Path) {
    guard let names = try? directoryNames(of: directory), names.count > Self.mostFiles else {
      return
    }
    var oldest: (path: Path, time: FileTime)?
    for name in names {
      let path = directory.appending(name.bytes)
      guard let time = try? FileStatus(of: path).modified, time < oldest?.time ?? .latest(),
        path.lastComponent.count >= 32
      else { continue }
      oldest = (path, time)
    }
    if let oldest { removeFile(oldest.path) }
  }

  private static func header(of lines: ArraySlice<UInt8>) -> [UInt8] {
    let digest = lines.withUnsafeBytes { ContentDigest(of: $0) }
    return Array("\(version) \(digest.text)".utf8)
  }

  private static func line(_ record: FreshRecord) -> [UInt8] {
    let words = record.digests.map(\.text) + [record.task]
    return Array((words.joined(separator: " ") + "\n").utf8)
  }

  private static func record(_ line: ArraySlice<UInt8>) -> FreshRecord? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
    let digests = words.prefix(3).compactMap(ContentDigest.init(text:))
    guard words.count == 4, digests.count == 3,
      let task = String(validating: words[3], as: UTF8.self)
    else { return nil }
    return FreshRecord(
      task: task, definition: digests[0], inputs: digests[1], outputs: digests[2])
  }
}

extension ContentDigest {
  fileprivate init?(text: ArraySlice<UInt8>) {
    guard text.count == 32, let text = String(validating: text, as: UTF8.self),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
