// The names are those of others, and are documented there.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverUseImplicitlyUnwrappedOptionals
// What the lines for macOS use of Apple's module System.

public struct FilePath: Hashable, Sendable {
  public init(platformString: UnsafePointer<CChar>) {}

  public func withPlatformString<Result>(
    _ body: (UnsafePointer<CChar>) throws -> Result
  ) rethrows -> Result { fatalError() }
}
