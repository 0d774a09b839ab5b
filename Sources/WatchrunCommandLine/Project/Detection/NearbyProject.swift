import SystemCalls

/// A project near a directory that has none: in an ancestor within the repository, or in a
/// subdirectory.
struct NearbyProject: Hashable {
  /// Its path, relative to the directory.
  let place: Path
  /// For messages: "a Swift package (Package.swift)", or the name of a project file.
  let title: String

  init?(around directory: Path) {
    let found = Self.above(directory) ?? Self.below(directory)
    guard let found else { return nil }
    self = found
  }

  private init?(at place: Path, from base: Path) {
    let directory = ProjectDirectory(path: place.absolute(from: base))
    self.place = place
    if let file = directory.first(of: ProjectSource.usualFiles.map(\.description)) {
      title = file
    } else if let found = DetectedProject(directory) {
      title = found.titles
    } else {
      return nil
    }
  }

  private static func above(_ base: Path) -> NearbyProject? {
    var found: NearbyProject?
    var directory = base
    var place = ""
    // The search ends at the top of the repository; without a repository nothing is found.
    while !ProjectDirectory(path: directory).holdsAnything(".git") {
      guard let parent = directory.parent else { return nil }
      place += place.isEmpty ? ".." : "/.."
      found = found ?? NearbyProject(at: Path(place), from: base)
      directory = parent
    }
    return found
  }

  private static func below(_ base: Path) -> NearbyProject? {
    let names = ProjectDirectory(path: base).names(of: .directory)
    return names.lazy.compactMap { NearbyProject(at: Path($0), from: base) }.first
  }
}
