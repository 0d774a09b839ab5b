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
    guard name.count >= 4 else { return [] }
    // Nearly all names begin with another byte, or end with one.
    if name[0] == Byte.dot { return find(name, in: hiddenNames) }
    switch name[name.count - 1] {
    case UInt8(ascii: "o"), UInt8(ascii: "l"), UInt8(ascii: "n"), UInt8(ascii: "t"):
      return find(name, in: markerNames)
    default: return []
    }
  }

  private static func find(
    _ name: UnsafeBufferPointer<UInt8>, in table: [(names: IgnoreFileNames, text: StaticString)]
  ) -> IgnoreFileNames {
    for (names, text) in table where name.count == text.utf8CodeUnitCount {
      let isSame = text.withUTF8Buffer { $0.elementsEqual(name) }
      if isSame { return names }
    }
    return []
  }

  /// The names that exist in a directory.
  static func present(in directory: Path) -> IgnoreFileNames {
    var found: IgnoreFileNames = []
    for (names, text) in texts where !found.contains(names) {
      if (try? FileStatus(of: directory.appending("\(text)"))) != nil { found.insert(names) }
    }
    return found
  }

  /// The names as strings.
  var texts: [String] {
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
