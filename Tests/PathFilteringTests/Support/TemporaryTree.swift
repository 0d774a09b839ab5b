import Foundation
import PathFiltering
import SystemCalls
import Testing

/// A folder of its own for one test, gone with it. It is in no repository, and holds a home folder
/// beside the project, so that no setting of the machine has a say.
final class TemporaryTree {
  private let folder: Path
  /// The project.
  let root: Path
  /// The home folder.
  let home: Path

  init() throws {
    let name = "watchrun-tests-\(UUID().uuidString)"
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = try resolvedPath(Path(url.path))
    root = folder.appending("project")
    home = folder.appending("home")
    try makeFolder(root)
    try makeFolder(home)
  }

  deinit {
    if let path = folder.string { try? FileManager.default.removeItem(atPath: path) }
  }

  /// What the program and git are told of the user.
  var environment: [String: String] {
    ["HOME": home.string ?? "", "GIT_CONFIG_NOSYSTEM": "1"]
  }

  /// Makes the smallest folder that git takes for a repository.
  func makeRepository(_ name: String = ".", configuration: String = "") throws {
    try write("\(name)/.git/HEAD", "ref: refs/heads/main\n")
    try write("\(name)/.git/config", "[core]\n\trepositoryformatversion = 0\n" + configuration)
    try makeFolder(path("\(name)/.git/objects"))
    try makeFolder(path("\(name)/.git/refs"))
  }

  /// The absolute path of something in the project.
  func path(_ name: String) -> Path {
    Path(name).absolute(from: root)
  }

  /// Writes a file in the project, and the folders that it takes.
  func write(_ name: String, _ text: String = "") throws {
    try write(path(name), Array(text.utf8))
  }

  /// Writes a file in the home folder.
  func writeAtHome(_ name: String, _ text: String) throws {
    try write(Path(name).absolute(from: home), Array(text.utf8))
  }

  func write(_ path: Path, _ bytes: [UInt8]) throws {
    if let parent = path.parent { try makeFolder(parent) }
    let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try writeAll(bytes, to: file.number)
  }

  func makeFolder(_ path: Path) throws {
    if (try? FileStatus(of: path)) != nil { return }
    if let parent = path.parent { try makeFolder(parent) }
    _ = try checked("mkdir", path: path) { path.withCString { mkdir($0, 0o755) } }
  }

  func makeLink(_ name: String, to target: String) throws {
    let link = path(name)
    _ = try checked("symlink", path: link) { link.withCString { symlink(target, $0) } }
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: try #require(path(name).string))
  }
}
