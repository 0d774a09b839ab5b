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

  /// All of them.
  package static let all: IgnoreFileNames = [.git, .gitignore, .ignore, .watchrunignore]

  /// The set of this name, or the empty set for any other name.
  package static func of(_ name: UnsafeBufferPointer<UInt8>) -> IgnoreFileNames {
    guard name.count >= 4, name[0] == Byte.dot else { return [] }
    for (names, text) in texts where name.count == text.utf8CodeUnitCount {
      let isSame = text.withUTF8Buffer { $0.elementsEqual(name) }
      if isSame { return names }
    }
    return []
  }

  /// The names that exist in a directory.
  static func present(in directory: Path) -> IgnoreFileNames {
    var found: IgnoreFileNames = []
    for (names, text) in texts {
      if (try? FileStatus(of: directory.appending("\(text)"))) != nil { found.insert(names) }
    }
    return found
  }

  /// The names as strings.
  var texts: [String] {
    Self.texts.filter { contains($0.names) }.map { "\($0.text)" }
  }

  private static let texts: [(names: IgnoreFileNames, text: StaticString)] = [
    (.git, ".git"), (.gitignore, ".gitignore"), (.ignore, ".ignore"),
    (.watchrunignore, ".watchrunignore"),
  ]
}
