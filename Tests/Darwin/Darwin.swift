// The names are those of others, and are documented there.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverUseImplicitlyUnwrappedOptionals
// What the lines for macOS use of the modules Darwin and Dispatch and is not the same on Linux, with Apple's signatures.
@_exported import CDarwin
import Dispatch
@_exported import Glibc

public let RLIMIT_NOFILE: Int32 = 8
public let CLOCK_UPTIME_RAW: clockid_t = 8

extension dirent {
  public var d_namlen: UInt16 { fatalError() }
}

extension sigaction {
  public struct __sigaction_u_t {
    public var __sa_handler: (@convention(c) (Int32) -> Void)!
  }
  public var __sigaction_u: __sigaction_u_t { fatalError() }
}

// MARK: - posix_spawn

public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias SpawnAttributes = UnsafeMutablePointer<posix_spawnattr_t?>
public typealias SpawnActions = UnsafeMutablePointer<posix_spawn_file_actions_t?>
public typealias Words = UnsafePointer<UnsafeMutablePointer<CChar>?>

@discardableResult
public func posix_spawnattr_init(_: SpawnAttributes!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_destroy(_: SpawnAttributes!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setflags(_: SpawnAttributes!, _: Int16) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setpgroup(_: SpawnAttributes!, _: pid_t) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setsigmask(
  _: SpawnAttributes!, _: UnsafePointer<sigset_t>!
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setsigdefault(
  _: SpawnAttributes!, _: UnsafePointer<sigset_t>!
) -> Int32 { fatalError() }

@discardableResult
public func posix_spawn_file_actions_init(_: SpawnActions!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_destroy(_: SpawnActions!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_addopen(
  _: SpawnActions!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_adddup2(
  _: SpawnActions!, _: Int32, _: Int32
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_addinherit_np(
  _: SpawnActions!, _: Int32
) -> Int32 { fatalError() }

public func posix_spawnp(
  _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!,
  _: UnsafePointer<posix_spawn_file_actions_t?>!, _: UnsafePointer<posix_spawnattr_t?>!,
  _: Words!, _: Words!
) -> Int32 { fatalError() }

// MARK: - Dispatch

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
  var data: DispatchSource.FileSystemEvent { get }
}

public protocol DispatchSourceProcess: DispatchSourceProtocol {}

extension DispatchSource {
  public struct ProcessEvent: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let exit = ProcessEvent(rawValue: 0x8000_0000)
  }

  public class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject { fatalError() }

  public class func makeProcessSource(
    identifier: pid_t, eventMask: ProcessEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceProcess { fatalError() }
}
