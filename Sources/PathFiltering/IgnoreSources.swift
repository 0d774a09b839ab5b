/// The kinds of ignore rules to apply.
public struct IgnoreSources: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// A set of these bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The rules of git: `.gitignore`, `.git/info/exclude`, and, with ``global``,
  /// `core.excludesFile`.
  public static let versionControl = IgnoreSources(rawValue: 1)
  /// The rules of the project: `.ignore` and `.watchrunignore`.
  public static let project = IgnoreSources(rawValue: 2)
  /// The rules of the user: `watchrun/ignore` beside git's configuration, and, with
  /// ``versionControl``, `core.excludesFile`.
  public static let global = IgnoreSources(rawValue: 4)
  /// The built-in list.
  public static let defaults = IgnoreSources(rawValue: 8)

  /// All kinds.
  public static let all: IgnoreSources = [.versionControl, .project, .global, .defaults]
}
