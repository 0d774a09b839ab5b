import Support
import Synchronization
import SystemCalls

/// A directory that may hold a project, as far as detection reads it.
package struct ProjectDirectory {
  let path: Path
  let findsProgram: @Sendable (String) -> Bool
  private let readings = Readings()

  private final class Readings: Sendable {
    let members = Mutex<[Member]?>(nil)
  }

  typealias Member = (directory: ProjectDirectory, scripts: [String: String])

  package init(
    path: Path,
    findsProgram: @escaping @Sendable (String) -> Bool = {
      findProgram(Array($0.utf8), in: programDirectories()) != nil
    }
  ) {
    (self.path, self.findsProgram) = (path, findsProgram)
  }

  /// The type of what is at a path, relative to the directory; `nil` if there is nothing.
  func type(of path: Path) -> FileType? {
    (try? FileStatus(of: path.absolute(from: self.path), followsLinks: true))?.type
  }

  func holds(_ name: String) -> Bool { type(of: Path(name)) == .file }

  func holdsDirectory(_ name: String) -> Bool { type(of: Path(name)) == .directory }

  /// Whether one of these files contains a text.
  func holds(_ names: [String], with part: String) -> Bool {
    names.contains { text(of: $0)?.includes(part) == true }
  }

  /// The content of a file, without a byte order mark; `nil` if it cannot be read.
  func text(of name: String) -> String? {
    (try? fileContents(of: Path(name).absolute(from: path)))?.withoutByteOrderMark.decoded
  }

  /// The value in a file of JSON; `nil` if it cannot be read.
  func json(of name: String) -> JSONValue? {
    text(of: name).flatMap { try? JSONValue(parsing: Array($0.utf8)) }
  }

  /// The members of its workspace and their scripts, which are read once for all scripts that start some.
  var members: [Member] {
    readings.members.withLock { known in
      let directories = known == nil ? Workspace(of: self)?.members ?? [] : []
      let members = known ?? directories.map { ($0, ProjectDetection.scripts(in: $0)) }
      known = members
      return members
    }
  }

  /// The directories above, the nearest one first, up to the top of the repository, and below directories that hold
  /// everything of a user.
  var ancestors: [ProjectDirectory] {
    let shared = ["/", "/tmp", "/var/tmp", "/home", environmentVariable("HOME") ?? "/"].map {
      Path($0)
    }
    return Array(
      sequence(first: self) { directory in
        guard !fileExists(directory.path.appending(".git")), let parent = directory.path.parent,
          !shared.contains(parent)
        else { return nil }
        return ProjectDirectory(path: parent)
      }.dropFirst())
  }

  /// The first file that exists, of names such as `Makefile`, `*.sln` and `tests/test_*.py`.
  func first(of names: [String]) -> String? {
    names.firstResult { all(of: $0).first }
  }

  /// The files of such a name.
  func all(of name: String) -> [String] {
    guard let star = name.firstIndex(of: "*") else { return holds(name) ? [name] : [] }
    let slash = name[..<star].lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
    let place = String(name[..<slash])
    let directory = ProjectDirectory(path: Path(place).absolute(from: path))
    return directory.files(endingWith: String(name[star...].dropFirst())).filter {
      $0.hasPrefix(name[slash..<star])
    }.map { place + $0 }
  }

  func files(endingWith ending: String) -> [String] {
    names(of: .file).filter { $0.hasSuffix(ending) && $0 != ending }
  }

  /// The names of the entries of this type, in order; names that are not UTF-8 are left out, and hidden ones unless
  /// they are wanted, too.
  package func names(of type: FileType, hidden: Bool = false) -> [String] {
    var listing = DirectoryListing()
    do throws(SystemError) {
      try listing.read(try Descriptor.open(path, O_RDONLY | O_DIRECTORY))
    } catch {
      return []
    }
    var names: [String] = []
    listing.forEach { entry in
      guard entry.type == type, hidden || entry.name.first != UInt8(ascii: "."),
        let name = String(validating: entry.name, as: UTF8.self)
      else { return }
      names.append(name)
    }
    return names.sorted()
  }
}
