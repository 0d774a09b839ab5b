import SystemCalls
public struct IgnoreFileNames: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static func of(_ name: UnsafeBufferPointer<UInt8>) -> IgnoreFileNames { [] }
}
public struct IgnoreStack: Sendable { }
public struct PathFilter: Sendable {
  public init() {}
  public func stack(forRoot: Path) -> IgnoreStack { IgnoreStack() }
  public func stack(entering folder: Path, seen: IgnoreFileNames, from: IgnoreStack) -> IgnoreStack { from }
  public func mayEnter(_ path: UnsafeBufferPointer<UInt8>, nameAt: Int, in stack: IgnoreStack) -> Bool { true }
  public func reports(_ path: UnsafeBufferPointer<UInt8>, nameAt: Int, isDirectory: Bool, in stack: IgnoreStack) -> Bool { true }
}
