import SystemCalls

/// A project that is near a folder in which there is none: above it in the repository, as when one is in
/// its sources, or one step below, as in a repository of several.
struct NearbyProject: Hashable {
  /// Where it is, seen from the folder.
  let place: Path
  /// For people: "a Swift package (Package.swift)", or the name of a project file.
  let title: String

  init?(around folder: Path) {
    let found = Self.above(folder) ?? Self.below(folder)
    guard let found else { return nil }
    self = found
  }

  private init?(at place: Path, from folder: Path) {
    let there = ProjectFolder(path: place.absolute(from: folder))
    self.place = place
    if there.holds(ProjectSource.usualFile.description) {
      title = ProjectSource.usualFile.description
    } else if let found = RecognizedProject(there) {
      title = found.titles
    } else {
      return nil
    }
  }

  private static func above(_ folder: Path) -> NearbyProject? {
    var found: NearbyProject?
    var here = folder
    var place = ""
    // What lies above the repository is somebody else's.
    while !ProjectFolder(path: here).holdsAnything(".git") {
      guard let parent = here.parent else { return nil }
      place += place.isEmpty ? ".." : "/.."
      found = found ?? NearbyProject(at: Path(place), from: folder)
      here = parent
    }
    return found
  }

  private static func below(_ folder: Path) -> NearbyProject? {
    var names: [[UInt8]] = []
    do throws(SystemError) {
      let directory = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
      try DirectoryReader().forEachEntry(of: directory) { (name, type) throws(SystemError) in
        if type == .directory && name.first != UInt8(ascii: ".") { names.append(Array(name)) }
      }
    } catch {
      return nil
    }
    names.sort { $0.lexicographicallyPrecedes($1) }
    return names.lazy.compactMap { NearbyProject(at: Path(bytes: $0), from: folder) }.first
  }
}
