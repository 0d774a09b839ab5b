import PathFiltering
import SystemCalls
import TestSupport

/// A project of its own for one test, and a home directory beside it, so that no setting of the
/// machine has an effect. It is in no repository.
final class TemporaryTree {
  private let directory: TemporaryDirectory
  /// The project.
  let root: Path
  /// The home directory.
  let home: Path

  init() throws {
    directory = try TemporaryDirectory()
    root = directory["project"]
    home = directory["home"]
    try directory.makeDirectories("project")
    try directory.makeDirectories("home")
  }

  /// The environment for the filter and for git.
  var environment: [String: String] {
    ["HOME": home.string ?? "", "GIT_CONFIG_NOSYSTEM": "1"]
  }

  /// Creates the smallest directory that git accepts as a repository.
  func makeRepository(_ name: String = ".", configuration: String = "") throws {
    try write("\(name)/.git/HEAD", "ref: refs/heads/main\n")
    try write("\(name)/.git/config", "[core]\n\trepositoryformatversion = 0\n" + configuration)
    try makeDirectory(path("\(name)/.git/objects"))
    try makeDirectory(path("\(name)/.git/refs"))
  }

  /// The absolute path of an entry of the project.
  func path(_ name: String) -> Path {
    Path(name).absolute(from: root)
  }

  /// Writes a file in the project, and creates its ancestors.
  func write(_ name: String, _ text: String = "") throws {
    try write(path(name), Array(text.utf8))
  }

  /// Writes a file in the home directory, and creates its ancestors.
  func writeAtHome(_ name: String, _ text: String) throws {
    try write(Path(name).absolute(from: home), Array(text.utf8))
  }

  /// Writes a file, and creates its ancestors.
  func write(_ path: Path, _ bytes: [UInt8]) throws {
    if let parent = path.parent { try makeDirectory(parent) }
    try File.write(bytes, to: path)
  }

  /// Creates a directory and its missing ancestors.
  func makeDirectory(_ path: Path) throws {
    try File.makeDirectories(path)
  }

  func makeLink(_ name: String, to target: String) throws {
    try File.makeLink(path(name), to: Path(target))
  }

  func remove(_ name: String) throws {
    try File.removeTree(path(name))
  }
}
