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
  /// The names of coverage reports; see ``DefaultIgnores/reportPattern``.
  package static let coverageReport = IgnoreFileNames(rawValue: 16)
  /// Those that matter by their presence alone, whatever they contain.
  package static let markers: IgnoreFileNames = [.git, .coverageReport]

  /// All of them.
  package static let all: IgnoreFileNames = [
    .git, .gitignore, .ignore, .watchrunignore, .coverageReport,
  ]

  /// The set of this name, or the empty set for any other name.
  package static func of(_ name: UnsafeBufferPointer<UInt8>) -> IgnoreFileNames {
    guard name.count >= 4 else { return [] }
    // Nearly all names begin with another byte.
    switch name[0] {
    case Byte.dot: return find(name, in: hiddenNames)
    case UInt8(ascii: "c"), UInt8(ascii: "l"): return find(name, in: reportNames)
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

  /// The names that exist in a directory. Those of reports matter in few directories.
  static func present(in directory: Path) -> IgnoreFileNames {
    var found: IgnoreFileNames = []
    let candidates = DefaultIgnores.isReportDirectory(directory) ? texts : hiddenNames
    for (names, text) in candidates {
      if (try? FileStatus(of: directory.appending("\(text)"))) != nil { found.insert(names) }
    }
    return found
  }

  /// The names as strings.
  var texts: [String] {
    Self.texts.filter { contains($0.names) }.map { "\($0.text)" }
  }

  private static let texts = hiddenNames + reportNames
  private static let hiddenNames: [(names: IgnoreFileNames, text: StaticString)] = [
    (.git, ".git"), (.gitignore, ".gitignore"), (.ignore, ".ignore"),
    (.watchrunignore, ".watchrunignore"),
  ]
  private static let reportNames: [(names: IgnoreFileNames, text: StaticString)] = [
    (.coverageReport, "lcov.info"), (.coverageReport, "clover.xml"),
    (.coverageReport, "coverage-final.json"),
  ]
}
