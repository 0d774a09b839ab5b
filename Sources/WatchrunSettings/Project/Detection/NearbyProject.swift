import SystemCalls

/// A project near a directory that has none: in an ancestor within the repository, or in a
/// subdirectory.
struct NearbyProject: Hashable {
  /// Its path, relative to the directory.
  let place: Path
  /// For messages: "a Swift package (Package.swift)", or the name of a project file.
  let title: String

  /// The nearest one above, or all below.
  static func all(around directory: Path) -> [NearbyProject] {
    above(directory).map { [$0] } ?? below(directory)
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
    var place = ".."
    return ProjectDirectory(path: base).ancestors.firstResult { _ in
      defer { place += "/.." }
      return NearbyProject(at: Path(place), from: base)
    }
  }

  private static let mostBelow = 8

  private static func below(_ base: Path) -> [NearbyProject] {
    var found: [NearbyProject] = []
    for name in ProjectDirectory(path: base).names(of: .directory) where found.count < mostBelow {
      if let project = NearbyProject(at: Path(name), from: base) { found.append(project) }
    }
    return found
  }
}
