import SystemCalls

/// The names in a directory that affect which of its descendants are ignored.
///
/// A caller that lists a directory tests each name with ``of(_:)``, and passes the union to
/// ``IgnoreStack/entering(_:seen:warn:)``. So no file is opened in the many directories that
/// contain none of these names.
package struct IgnoreFileNames: OptionSet, Sendable, Hashable {
  /// The bits.
  package let rawValue: UInt8

  /// A set of these bits.
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// `.git`, a directory or a file, at the root of a repository.
  package static let git = IgnoreFileNames(rawValue: 1)
  /// `.gitignore`.
  package static let gitignore = IgnoreFileNames(rawValue: 2)
  /// `.ignore`, which ripgrep and other tools also read.
  package static let ignore = IgnoreFileNames(rawValue: 4)
  /// `.watchrunignore`.
  package static let watchrunignore = IgnoreFileNames(rawValue: 8)
  /// The names of coverage reports, which matter in a directory of reports.
  package static let coverageReport = IgnoreFileNames(rawValue: 16)
  /// The files of Cargo and Maven, which write a directory `target` beside them.
  package static let targetMaker = IgnoreFileNames(rawValue: 32)
  /// That of sbt, which writes such directories in all subprojects.
  package static let targetsMaker = IgnoreFileNames(rawValue: 64)
  /// Those that matter to the built-in rules.
  static let builtInMarkers: IgnoreFileNames = [.coverageReport, .targetMaker, .targetsMaker]
  /// Those that matter by their presence alone, whatever they contain.
  package static let markers = builtInMarkers.union(.git)

  /// All of them.
  package static let all = markers.union([.gitignore, .ignore, .watchrunignore])

  /// The set of this name, or the empty set for any other name.
  package static func of(_ name: UnsafeBufferPointer<UInt8>) -> IgnoreFileNames {
    guard name.count >= 4, firstBytes.contains(name[0]) else { return [] }
    return find(name, in: name[0] == UInt8(ascii: ".") ? hiddenNames : markerNames)
  }

  /// Nearly all names begin with another byte.
  package static let firstBytes = DirectoryListing.FirstBytes(
    (hiddenNames + markerNames).map { $0.text.utf8Start[0] })

  private static func find(
    _ name: UnsafeBufferPointer<UInt8>, in table: [(names: IgnoreFileNames, text: StaticString)]
  ) -> IgnoreFileNames {
    for (names, text) in table where name.count == text.utf8CodeUnitCount {
      let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      if bytes.elementsEqual(name) { return names }
    }
    return []
  }

  /// Those of these names that exist in a directory.
  static func present(in directory: Path, of names: IgnoreFileNames = .all) -> IgnoreFileNames {
    var found: IgnoreFileNames = []
    for (name, text) in texts where names.contains(name) && !found.contains(name) {
      let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      if fileExists(directory.appending(bytes)) { found.insert(name) }
    }
    return found
  }

  /// Those that may matter in the topmost directories: all files, and the markers that exist.
  static func ofTop(_ directory: Path) -> IgnoreFileNames {
    all.subtracting(builtInMarkers).union(
      present(in: directory, of: [.targetMaker, .targetsMaker]))
  }

  /// The names as strings.
  package var texts: [String] {
    Self.texts.filter { contains($0.names) }.map { "\($0.text)" }
  }

  private static let texts = hiddenNames + markerNames
  private static let hiddenNames: [(names: IgnoreFileNames, text: StaticString)] = [
    (.git, ".git"), (.gitignore, ".gitignore"), (.ignore, ".ignore"),
    (.watchrunignore, ".watchrunignore"),
  ]
  private static let markerNames: [(names: IgnoreFileNames, text: StaticString)] = [
    (.targetMaker, "Cargo.toml"), (.targetMaker, "pom.xml"), (.targetsMaker, "build.sbt"),
    (.coverageReport, "lcov.info"), (.coverageReport, "clover.xml"),
    (.coverageReport, "coverage-final.json"),
  ]
}
