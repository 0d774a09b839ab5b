import SystemCalls

/// The names in a folder that bear on what is ignored below it.
///
/// Whoever lists a folder tests each name with ``of(_:)``, and hands the union to
/// ``IgnoreStack/entering(_:seen:warn:)``: no file need be opened in the many folders that hold none
/// of them.
public struct IgnoreFileNames: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// A set of these bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// `.git`, a folder or a file: a repository begins here.
  public static let git = IgnoreFileNames(rawValue: 1)
  /// `.gitignore`.
  public static let gitignore = IgnoreFileNames(rawValue: 2)
  /// `.ignore`, which ripgrep and others read too.
  public static let ignore = IgnoreFileNames(rawValue: 4)
  /// `.watchrunignore`.
  public static let watchrunignore = IgnoreFileNames(rawValue: 8)

  /// All of them.
  public static let all: IgnoreFileNames = [.git, .gitignore, .ignore, .watchrunignore]

  /// The set that holds this name, or the empty set, which it is for almost every name.
  public static func of(_ name: UnsafeBufferPointer<UInt8>) -> IgnoreFileNames {
    guard name.count >= 4, name[0] == Byte.dot else { return [] }
    for (names, text) in texts where name.count == text.utf8CodeUnitCount {
      let isSame = text.withUTF8Buffer { $0.elementsEqual(name) }
      if isSame { return names }
    }
    return []
  }

  /// Those that are there in a folder, for those who have no listing of it.
  static func present(in folder: Path) -> IgnoreFileNames {
    var found: IgnoreFileNames = []
    for (names, text) in texts {
      if (try? FileStatus(of: folder.appending("\(text)"))) != nil { found.insert(names) }
    }
    return found
  }

  /// The names as they are spelled.
  var texts: [String] {
    Self.texts.filter { contains($0.names) }.map { "\($0.text)" }
  }

  private static let texts: [(names: IgnoreFileNames, text: StaticString)] = [
    (.git, ".git"), (.gitignore, ".gitignore"), (.ignore, ".ignore"),
    (.watchrunignore, ".watchrunignore"),
  ]
}
